import { customers } from '@/db/schema';
import type { CustomerSnippet } from './schema';

/** The columns a snippet is made of, for the select of a row that embeds its customer. */
export const snippetColumns = {
  id: customers.id,
  customer_number: customers.customer_number,
  first_name: customers.first_name,
  last_name: customers.last_name,
  company: customers.company,
  email: customers.email,
  status: customers.status,
};

type SnippetRecord = Pick<typeof customers.$inferSelect, keyof typeof snippetColumns>;

export function toCustomerSnippet(record: SnippetRecord): CustomerSnippet {
  const { id, customer_number, email, status } = record;
  return { id, customer_number, name: customerName(record), email, status };
}

/** Company, else "first last"; empty where none of them is known. */
export function customerName(
  record: Pick<typeof customers.$inferSelect, 'company' | 'first_name' | 'last_name'>,
): string {
  return record.company || [record.first_name, record.last_name].filter(Boolean).join(' ');
}
