import { Agent, request } from 'node:http';
import { performance } from 'node:perf_hooks';

export interface Target {
  name: string;
  url: URL;
  headers: Record<string, string>;
  body: string;
}

const CONNECTIONS = 20;

/** Requests a second that a POST target answers on 20 kept connections, for so many milliseconds. */
export async function measure(target: Target, milliseconds: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const started = performance.now();
  const until = started + milliseconds;
  let answered = 0;
  const worker = async () => {
    while (performance.now() < until) {
      await post(target, agent);
      answered += 1;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, worker));
  agent.destroy();
  return (answered * 1000) / (performance.now() - started);
}

/** One request; its body. */
export function post(target: Target, agent?: Agent): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { ...target.headers, 'Content-Length': Buffer.byteLength(target.body) };
    const sent = request(target.url, { method: 'POST', headers, ...(agent && { agent }) }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('error', reject);
      response.once('end', () => {
        const text = Buffer.concat(chunks).toString();
        if (response.statusCode === 200) resolve(text);
        else reject(new Error(`${target.name} answered ${response.statusCode}: ${text.slice(0, 300)}`));
      });
    });
    sent.once('error', reject);
    sent.end(target.body);
  });
}

/** The middle of an odd number of figures. */
export function median(figures: number[]): number {
  return figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)] ?? Number.NaN;
}
