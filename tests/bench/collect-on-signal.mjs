import { writeFileSync } from 'node:fs';

// Loaded into the server by measureMemory: after SIGUSR2 it has no garbage, and tells what it holds.
process.on('SIGUSR2', () => {
  globalThis.gc();
  globalThis.gc();
  writeFileSync(`${process.env.BENCH_MEMORY}-${process.pid}`, JSON.stringify(process.memoryUsage()));
});
