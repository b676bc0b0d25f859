import { and, isNull, notInArray } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { invoices, payments } from '@/db/schema';
import type { Target } from '../load';

/** A server that answers as the payments API does. */
export interface Door {
  name: string;
  /** Of the list of payments. */
  url: string;
  /** Milliseconds of a processor that its server has used. */
  cpuMs(): number;
}

export interface Operation {
  name: string;
  /** The same request to each door. */
  targets: Target[];
}

export type Invoice = Pick<typeof invoices.$inferSelect, 'id' | 'customer_id' | 'currency'>;

/** What is measured. Writes are spread over all invoices that take a payment, so that few wait for a lock. */
export async function comparedOperations(db: Database, doors: Door[], token: string): Promise<Operation[]> {
  const open = await openInvoices(db);
  await db.insert(payments).values(
    open.map((invoice) => ({
      ...paymentFor(invoice, repeated(invoice), 1),
      amount: '1',
      source: 'api' as const,
      currency: invoice.currency,
    })),
  );
  let sent = 0;
  const each = (name: (invoice: Invoice) => string) => () => {
    sent += 1;
    const invoice = open[sent % open.length] as Invoice;
    return JSON.stringify(paymentFor(invoice, name(invoice), sent));
  };
  const [last] = await db.select({ id: payments.id }).from(payments).limit(1);
  return [
    { name: 'GET one', targets: doors.map((door) => get(door, token, `/${last?.id}`)) },
    { name: 'GET 25', targets: doors.map((door) => get(door, token, '?per_page=25')) },
    {
      name: 'POST a new reference',
      targets: doors.map((door) =>
        post(
          door,
          token,
          each(() => `BENCH-NEW-${sent}`),
        ),
      ),
    },
    {
      name: 'POST a known reference',
      targets: doors.map((door) => post(door, token, each(repeated))),
    },
  ];
}

export function post(door: Door, token: string, body: () => string): Target {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  return { name: door.name, method: 'POST', url: new URL(door.url), headers, body };
}

/** Invoices of ours that take a payment and are settled after it. */
export function openInvoices(db: Database): Promise<Invoice[]> {
  return db
    .select({ id: invoices.id, customer_id: invoices.customer_id, currency: invoices.currency })
    .from(invoices)
    .where(and(isNull(invoices.stripe_invoice_id), notInArray(invoices.status, ['draft', 'cancelled'])));
}

/** The body of a request. */
export function paymentFor(invoice: Invoice, payment_reference: string, amount: number) {
  return {
    invoice_id: invoice.id,
    customer_id: invoice.customer_id,
    amount,
    payment_date: '2026-11-21',
    payment_reference,
    status: 'completed' as const,
  };
}

function repeated({ id }: Invoice): string {
  return `BENCH-KNOWN-${id}`;
}

function get(door: Door, token: string, path: string): Target {
  const headers = { Authorization: `Bearer ${token}` };
  return { name: door.name, method: 'GET', url: new URL(door.url + path), headers };
}
