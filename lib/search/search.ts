import { sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { readLimited } from '@/db/transaction';
import {
  type Found,
  findCustomerHits,
  findDocumentHits,
  findEventHits,
  findInvoiceHits,
  findPaymentHits,
  findServerHits,
  findServiceHits,
  findSubscriptionHits,
} from './hits';
import type { SearchGroup, SearchKind, SearchResults } from './schema';

const KINDS: [SearchKind, label: string, find: (db: Database, text: string) => Promise<Found>][] = [
  ['customer', 'Customers', findCustomerHits],
  ['invoice', 'Invoices', findInvoiceHits],
  ['payment', 'Payments', findPaymentHits],
  ['service', 'Services', findServiceHits],
  ['sales_document', 'Sales documents', findDocumentHits],
  ['server', 'Servers', findServerHits],
  ['subscription', 'Subscriptions', findSubscriptionHits],
  ['event', 'Stripe events', findEventHits],
];

/**
 * The records that a text names or is part of, by kind; kinds with one that it names as a whole come first.
 * Case does not matter, except in Stripe's ids; `#` and our id finds what has that id.
 *
 * @param text as `searchText` parsed it
 */
export async function search(db: Database, text: string): Promise<SearchResults> {
  const found = await readLimited(db, async (tx) => {
    // Where many rows match, a scan seems cheap, and is not where all of them are at the table's other end.
    // Compiling a plan would take longer than running it, but forbidding scans makes it look costly.
    await tx.execute(sql`select set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true)`);
    const groups: (SearchGroup & { exact: number })[] = [];
    for (const [kind, label, find] of KINDS) groups.push({ kind, label, ...(await find(tx, text)) });
    return groups.filter(({ hits }) => hits.length > 0);
  });
  const [first, ...others] = found.sort((a, b) => Math.sign(b.exact) - Math.sign(a.exact));
  const isAlone = others.length === 0 && first?.hits.length === 1 && first.exact === 1;
  return {
    groups: found.map(({ exact: _, ...group }) => group),
    only: isAlone ? (first.hits[0] ?? null) : null,
  };
}
