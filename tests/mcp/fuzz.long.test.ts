import { fuzzToolServer } from './fuzz';

fuzzToolServer(Number(process.env.W5T_FUZZ_RUNS ?? 300));
