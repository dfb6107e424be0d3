import { testFixturesOf } from './conform.js';

testFixturesOf('delta-net');
