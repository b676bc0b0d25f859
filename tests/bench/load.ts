import { Agent, request } from 'node:http';
import { performance } from 'node:perf_hooks';

export interface Target {
  name: string;
  method: 'GET' | 'POST';
  url: URL;
  headers: Record<string, string>;
  /** A function makes each request's own. */
  body?: string | (() => string);
}

export interface Load {
  perSecond: number;
  /** Milliseconds of each request, the shortest first. */
  times: number[];
}

/** The connections that the benchmarks' promises are about. */
export const CONNECTIONS = 20;

/** Keeps so many connections busy for so many milliseconds. */
export async function measure(
  target: Target,
  milliseconds: number,
  connections = CONNECTIONS,
): Promise<Load> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const load = await keepBusy(() => send(target, agent), milliseconds, connections);
  agent.destroy();
  return load;
}

/** Does something over and over, so many at once, for so many milliseconds. */
export async function keepBusy(
  once: () => Promise<unknown>,
  milliseconds: number,
  workers: number,
): Promise<Load> {
  const times: number[] = [];
  const started = performance.now();
  const until = started + milliseconds;
  const worker = async () => {
    for (let sent = started; sent < until; ) {
      await once();
      const now = performance.now();
      times.push(now - sent);
      sent = now;
    }
  };
  await Promise.all(Array.from({ length: workers }, worker));
  const perSecond = (times.length * 1000) / (performance.now() - started);
  return { perSecond, times: times.sort((a, b) => a - b) };
}

export interface Answer {
  status: 200 | 201;
  body: string;
}

/** One request. @throws where the status is another */
export function send(target: Target, agent?: Agent): Promise<Answer> {
  const { name, method, url, body } = target;
  const text = typeof body === 'function' ? body() : (body ?? '');
  const headers =
    text === '' ? target.headers : { ...target.headers, 'Content-Length': Buffer.byteLength(text) };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, ...(agent && { agent }) }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('error', reject);
      response.once('end', () => {
        const status = response.statusCode;
        const answer = Buffer.concat(chunks).toString();
        if (status === 200 || status === 201) resolve({ status, body: answer });
        else reject(new Error(`${name} answered ${status}: ${answer.slice(0, 300)}`));
      });
    });
    sent.once('error', reject);
    sent.end(text);
  });
}

/** The middle of an odd number of figures. */
export function median(figures: number[]): number {
  return percentile(
    figures.toSorted((a, b) => a - b),
    0.5,
  );
}

/** The figure that a share of them stays below; they are in their order. */
export function percentile(sorted: number[], share: number): number {
  return sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? Number.NaN;
}
