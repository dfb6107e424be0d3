import { testFixturesOf } from './conform.js';

testFixturesOf('mla');
