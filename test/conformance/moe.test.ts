import { testFixturesOf } from './conform.js';

testFixturesOf('moe');
