import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { postEvent } from './stripe-events';

export interface ServerProcess {
  url: string;
  /** At once, whatever it is doing. */
  kill(): Promise<void>;
}

/** A server of the payments API and the webhook, in a process of its own. */
export async function startServerProcess(variables: Record<string, string>): Promise<ServerProcess> {
  const script = fileURLToPath(new URL('./server-process.ts', import.meta.url));
  const { PATH, HOME, TMPDIR } = process.env;
  const child = spawn(process.execPath, ['--import', 'tsx', script], {
    env: { PATH, HOME, TMPDIR, NODE_ENV: 'production', LOG_LEVEL: 'silent', ...variables },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return { url: await firstLine(child), kill: () => kill(child) };
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
 * Keeps sending to servers of which one may die, each request until one of them has answered 2xx: as whoever
 * does not know whether it arrived.
 *
 * @returns how many had to be sent again
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
          () => false, // cut off: it may have been done, or not
        );
        if (isTaken) break;
        if (attempt === 20) throw new Error('no server takes it');
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

/** Delivers the event that an invoice of Stripe's was paid. */
export function paidInvoiceOf(id: string): Send {
  return (url) => {
    const now = new Date();
    const created = Math.floor(now.getTime() / 1000) - 10;
    const object = {
      id,
      object: 'invoice',
      status: 'paid',
      number: `NO-${id}`,
      customer: `cus_${id}`,
      currency: 'eur',
      subtotal: 10000,
      total: 11900,
      total_excluding_tax: 10000,
      amount_due: 11900,
      amount_paid: 11900,
      amount_remaining: 0,
      created,
      due_date: null,
      status_transitions: { finalized_at: created, paid_at: created },
    };
    const event = {
      id: `evt_${id}`,
      object: 'event',
      type: 'invoice.payment_succeeded',
      created,
      livemode: false,
    };
    return postEvent(url, { ...event, api_version: '2026-10-28.endive', data: { object } }, now);
  };
}
