import { writeFileSync } from 'node:fs';

// `measureMemory` preloads this module into the server. On SIGUSR2, the server collects its garbage and writes its
// memory usage to a file.
process.on('SIGUSR2', () => {
  globalThis.gc();
  globalThis.gc();
  writeFileSync(`${process.env.BENCH_MEMORY}-${process.pid}`, JSON.stringify(process.memoryUsage()));
});
