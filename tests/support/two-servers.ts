import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { postEvent, succeeded, toEvent } from './stripe-events';

export interface ServerProcess {
  url: string;
  /** At once, whatever it is doing. */
  kill(): Promise<void>;
}

/** Starts a server of the payments API and the webhook in a process of its own, to be killed. */
export async function startServerProcess(variables: Record<string, string>): Promise<ServerProcess> {
  const script = `import(${JSON.stringify(import.meta.url)}).then((own) => own.${serveHere.name}())`;
  const { PATH, HOME, TMPDIR } = process.env;
  const child = spawn(process.execPath, ['--import', 'tsx', '-e', script], {
    cwd: join(import.meta.dirname, '../..'),
    env: { PATH, HOME, TMPDIR, NODE_ENV: 'production', LOG_LEVEL: 'silent', ...variables },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return { url: await firstLine(child), kill: () => kill(child) };
}

/** The server of such a process: DATABASE_URL in, its address out. Loads the product only there. */
export async function serveHere(): Promise<void> {
  const webhook = await import('@/app/api/stripe/webhook/route');
  const payments = await import('@/app/api/w5t/payments/route');
  const { createRuntime, setRuntime } = await import('@/lib/runtime');
  const { parseEnv } = await import('@/lib/env');
  const { serveRoutes } = await import('./serve-routes');
  setRuntime(await createRuntime(parseEnv(process.env)));
  const { url } = await serveRoutes({ '/api/stripe/webhook': webhook, '/api/w5t/payments': payments });
  console.log(url);
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (!child.stdout) throw new Error('the child has no stdout');
  const [data] = await Promise.race([
    once(child.stdout, 'data'),
    once(child, 'exit').then(([code]) => Promise.reject(new Error(`the server ended with ${code}`))),
  ]);
  return String(data).trim();
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null && child.kill('SIGKILL'))
    await once(child, 'exit');
}

/**
 * Sends requests to servers that may die. Each is sent again until one of them has answered 2xx, since a lost
 * answer does not tell whether the request arrived.
 *
 * @returns how many requests were sent again
 */
export async function sendToAny(
  servers: ServerProcess[],
  requests: ((url: string) => Promise<Response>)[],
  atOnce: number,
): Promise<number> {
  const waiting = [...requests.entries()];
  let again = 0;
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const [i, send] = next;
      for (let attempt = 0; ; attempt += 1) {
        const server = servers[(i + attempt) % servers.length];
        const isTaken = await send(server?.url ?? '').then(
          ({ ok }) => ok,
          () => false, // cut off, done or not
        );
        if (isTaken) break;
        if (attempt === 20) throw new Error('no server takes the request');
        again += 1;
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return again;
}

type Send = (url: string) => Promise<Response>;

/** Records a payment of 1 on an invoice. */
export function paymentOf(invoice: { id: number; customer_id: number }, token: string, name: string): Send {
  const body = JSON.stringify({
    invoice_id: invoice.id,
    customer_id: invoice.customer_id,
    amount: 1,
    payment_date: '2026-03-10',
    payment_reference: name,
  });
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  return (url) => fetch(`${url}/api/w5t/payments`, { method: 'POST', headers, body });
}

/** Delivers the event that a Stripe invoice was paid. */
export function paidInvoiceOf(id: string): Send {
  const event = toEvent(succeeded(id, { customer: `cus_${id}` }), 1);
  return (url) => postEvent(url, { ...event, id: `evt_${id}` }, new Date());
}
