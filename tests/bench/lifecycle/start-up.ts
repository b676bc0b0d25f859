import { freePort } from '../free-port';
import { percentile } from '../load';
import { startProduct } from './product';

const STARTS = 10;
const MOST_MS = 1000;

/** How long the product takes to its first answer, on PostgreSQL. @returns what misses its limit */
export async function measureStarts(databaseUrl: string): Promise<string[]> {
  const times: number[] = [];
  for (let i = 0; i < STARTS; i += 1) {
    const product = await startProduct(await freePort(), { DATABASE_URL: databaseUrl });
    times.push(product.startMs);
    await product.end('SIGTERM');
  }
  const sorted = times.toSorted((a, b) => a - b);
  const [median, last] = [percentile(sorted, 0.5), sorted.at(-1) ?? Number.NaN];
  const sentence = `start to first answer: ${median.toFixed(0)} ms at the median of ${STARTS}, ${last.toFixed(0)} ms at most`;
  console.log(`${sentence}; ${MOST_MS} ms allowed at the median`);
  return median <= MOST_MS ? [] : [sentence];
}
