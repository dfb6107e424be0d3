import { testFixturesOf } from './conform.js';

testFixturesOf('newer');
