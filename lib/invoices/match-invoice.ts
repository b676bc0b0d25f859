import type { SQL } from 'drizzle-orm';
import { invoices } from '@/db/schema';
import { matchNumbered } from '../customers/match-customer';

/** Invoices by `#id` or by number. Two of Stripe's may share one. */
export function matchInvoice(text: string): SQL {
  return matchNumbered(invoices, text);
}
