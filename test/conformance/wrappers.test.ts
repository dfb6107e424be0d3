import { testFixturesOf } from './conform.js';

testFixturesOf('wrappers');
