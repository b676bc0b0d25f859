import { existsSync, readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { freePort } from '../free-port';
import { isAlive, startProduct } from './product';

export const RESTARTS = Number(process.env.BENCH_RESTARTS ?? 100);
/** Each so many of them is a kill -9 of the first process. */
const KILLED = 5;

/** Starts and ends the product over and over, on one port and one database. @returns what was left behind */
export async function restartOften(
  name: string,
  dataDir: string,
  env: Record<string, string>,
): Promise<string[]> {
  const port = await freePort();
  const left: string[] = [];
  const from = performance.now();
  for (let i = 1; i <= RESTARTS; i += 1) {
    const signal = i % KILLED === 0 ? 'SIGKILL' : 'SIGTERM';
    const product = await startProduct(port, { DATA_DIR: dataDir, ...env });
    const code = await product.end(signal);
    const found = [
      ...(code === (signal === 'SIGTERM' ? 0 : null) ? [] : [`exit code ${code}`]),
      ...(isAlive(product.serverPid) ? [`process ${product.serverPid}`] : []),
      ...((await isFree(port)) ? [] : [`port ${port} in use`]),
      ...locksOf(dataDir),
    ];
    left.push(...found.map((what) => `${name}, restart ${i} by ${signal}: ${what}`));
  }
  const seconds = ((performance.now() - from) / 1000).toFixed(0);
  console.log(`${RESTARTS} restarts on ${name} in ${seconds} s: ${left.length} things left behind`);
  return left;
}

/** The lock, its drafts, and what they are buried as. */
function locksOf(dataDir: string): string[] {
  return existsSync(dataDir) ? readdirSync(dataDir).filter((file) => file.startsWith('lock.json')) : [];
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
