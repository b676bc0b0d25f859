import { performance } from 'node:perf_hooks';
import { expect } from 'vitest';
import { postRpc } from './post-json';

export interface ReadTimes {
  health: number;
  tools: number;
}

/**
 * Measures response times over several rounds, in milliseconds. Returns medians, which a pause of the machine does not
 * change. Each round makes four tool calls in parallel.
 */
export async function measureReads(url: string, token: string, rounds = 10): Promise<ReadTimes> {
  const timed = async (ask: () => Promise<Response>) => {
    const begun = performance.now();
    const response = await ask();
    expect(response.status).toBe(200);
    expect(await response.text()).not.toContain('isError');
    return performance.now() - begun;
  };
  const call = () => postRpc(url, token, 'tools/call', { name: 'list-invoices-tool', arguments: {} });
  const healthTimes: number[] = [];
  const toolTimes: number[] = [];
  for (let i = 0; i < rounds; i += 1) {
    healthTimes.push(await timed(() => fetch(`${url}/api/health`)));
    toolTimes.push(...(await Promise.all([call, call, call, call].map(timed))));
  }
  return { health: median(healthTimes), tools: median(toolTimes) };
}

/** Returns the middle value of a list, which must not be empty. */
export const median = (values: number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/**
 * Expects quick reads while writers wait for a lock. A read that waits too would take up to ten seconds. Reads may take
 * three seconds, or on a busy machine three times as long as in `quiet`. `npm run bench` measures the promised response
 * times.
 */
export function requireQuick({ health, tools }: ReadTimes, quiet: ReadTimes): void {
  expect(health).toBeLessThan(Math.max(3000, 3 * quiet.health));
  expect(tools).toBeLessThan(Math.max(3000, 3 * quiet.tools));
}
