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
 * Finds records that match a text, grouped by kind. Kinds with an exact hit come first. The search ignores case, except
 * in Stripe ids. A `#` before our id finds the record with this id.
 *
 * @param text output of `searchText`
 */
export async function search(db: Database, text: string): Promise<SearchResults> {
  const found = await readLimited(db, async (tx) => {
    // If many rows match, the planner prefers a sequential scan, which is slow if the matches are at the table's end.
    // Without scans, plans look so expensive that PostgreSQL would compile them, which takes longer than running them.
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
