import { testFixturesOf } from './conform.js';

testFixturesOf('dense-core');
