import { startUntil } from '../e2e/support/commands';
import { postJson } from './post-json';
import { postEvent, succeeded, toEvent } from './stripe-events';

type Send = (url: string) => Promise<Response>;

export interface ServerProcess {
  url: string;
  /** Kills the process with SIGKILL. */
  kill(): Promise<void>;
}

/** Starts the payments API and the webhook in a separate process, so that a test can kill it. */
export async function startServerProcess(variables: Record<string, string>): Promise<ServerProcess> {
  const script = `import(${JSON.stringify(import.meta.url)}).then((own) => own.${serveHere.name}())`;
  const command = [process.execPath, '--import', 'tsx', '-e', script];
  const { child, output, exited } = await startUntil(/\n/, command, { LOG_LEVEL: 'silent', ...variables });
  const kill = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  return { url: output().trim(), kill };
}

/**
 * Serves the database of DATABASE_URL and prints the server's URL. Runs in the separate process. It imports the product
 * only there, so that the test process does not load the routes.
 */
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

/**
 * Sends requests to servers that may die. Repeats each request until a server answers 2xx, because a request without a
 * response may not have been handled.
 *
 * @param atOnce the number of requests under way at the same time
 * @returns the number of repetitions
 * @throws Error if a request fails 21 times
 */
export async function sendToAny(servers: ServerProcess[], requests: Send[], atOnce: number): Promise<number> {
  const waiting = [...requests.entries()];
  let again = 0;
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const [i, send] = next;
      for (let attempt = 0; ; attempt += 1) {
        const server = servers[(i + attempt) % servers.length];
        const isTaken = await send(server?.url ?? '').then(
          ({ ok }) => ok,
          () => false, // The connection broke, so the request may or may not have been handled.
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

/** Builds a request that records a payment of 1.00 on an invoice. */
export function paymentOf(invoice: { id: number; customer_id: number }, token: string, name: string): Send {
  const payment = {
    invoice_id: invoice.id,
    customer_id: invoice.customer_id,
    amount: 1,
    payment_date: '2026-03-10',
    payment_reference: name,
  };
  return (url) => postJson(`${url}/api/w5t/payments`, token, payment);
}

/** Builds the delivery of an event about a paid Stripe invoice. */
export function paidInvoiceOf(id: string): Send {
  const event = toEvent(succeeded(id, { customer: `cus_${id}` }), 1);
  return (url) => postEvent(url, { ...event, id: `evt_${id}` }, new Date());
}
