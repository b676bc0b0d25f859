import { inArray } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { customers } from '@/db/schema';
import { findCustomers } from './find-customers';
import type { CustomerRow } from './schema';
import { customerName } from './snippet';
import { type TaxHome, type TaxRule, taxRuleOf } from './tax';

/** A customer as a form offers it, with what its records begin with. */
export interface CustomerChoice {
  customer_number: string;
  /** Company, else "first last". */
  name: string;
  status: CustomerRow['status'];
  currency: string;
  tax: TaxRule;
}

type Columns = Pick<
  CustomerRow,
  'customer_number' | 'status' | 'currency' | 'tax_exempt' | 'country' | 'vat_id'
>;

export function toCustomerChoice(row: Columns & { name: string }, home: TaxHome): CustomerChoice {
  const { customer_number, name, status, currency } = row;
  return { customer_number, name, status, currency, tax: taxRuleOf(row, home) };
}

/** The customers to choose from for a text, in the order of `findCustomers`. @param query as `customerQuery` parsed it */
export async function findCustomerChoices(
  db: Database,
  query: string,
  home: TaxHome,
): Promise<CustomerChoice[]> {
  const ids = (await findCustomers(db, query)).matches.map(({ id }) => id);
  if (ids.length === 0) return [];
  const found = await db
    .select({
      ...{ id: customers.id, customer_number: customers.customer_number, status: customers.status },
      ...{ company: customers.company, first_name: customers.first_name, last_name: customers.last_name },
      ...{ currency: customers.currency, tax_exempt: customers.tax_exempt },
      ...{ country: customers.country, vat_id: customers.vat_id },
    })
    .from(customers)
    .where(inArray(customers.id, ids));
  const byId = new Map(found.map((row) => [row.id, row]));
  return ids.flatMap((id) => {
    const row = byId.get(id);
    return row ? [toCustomerChoice({ ...row, name: customerName(row) }, home)] : [];
  });
}
