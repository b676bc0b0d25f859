import { eq, inArray, type SQL } from 'drizzle-orm';
import { invoices } from '@/db/schema';
import { idAfterHash, spellings } from '../customers/match-customer';

/** Invoices by `#id` or by number. Two of Stripe's may share one. */
export function matchInvoice(text: string): SQL {
  const id = idAfterHash(text);
  return id === null ? inArray(invoices.number, spellings(text)) : eq(invoices.id, id);
}
