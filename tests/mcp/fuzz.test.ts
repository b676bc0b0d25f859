import { fuzzToolServer } from './fuzz';

fuzzToolServer(25);
