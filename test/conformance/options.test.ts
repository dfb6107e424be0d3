import { testFixturesOf } from './conform.js';

testFixturesOf('options');
