import { testFixturesOf } from './conform.js';

testFixturesOf('breadth');
