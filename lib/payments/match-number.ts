import { eq, inArray, type SQL } from 'drizzle-orm';
import { customers, invoices } from '@/db/schema';
import { MAX_ID } from '../page';

/** The id in a text like `#31`; null for any other text, and for an id that no row can have. */
export function idAfterHash(text: string): number | null {
  const id = /^#(\d{1,10})$/.exec(text)?.[1];
  return id !== undefined && Number(id) <= MAX_ID ? Number(id) : null;
}

/** Invoices by `#id` or by number. Two of Stripe's may share one. */
export function matchInvoice(text: string): SQL {
  const id = idAfterHash(text);
  return id === null ? inArray(invoices.number, spellings(text)) : eq(invoices.id, id);
}

/** The customer of a `#id` or of a whole customer number. */
export function matchCustomer(text: string): SQL {
  const id = idAfterHash(text);
  return id === null ? inArray(customers.customer_number, spellings(text)) : eq(customers.id, id);
}

/** Numbers are written in capitals, and `K10001` is often typed as `K-10001`. */
function spellings(text: string): string[] {
  const capitals = text.toUpperCase();
  return [...new Set([text, capitals, capitals.replace(/[-\s]/g, '')])];
}
