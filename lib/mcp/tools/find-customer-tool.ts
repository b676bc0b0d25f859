import { z } from 'zod';
import { findCustomers, findCustomersByNumber } from '@/lib/customers/find-customers';
import { customerMatches, customerQuery } from '@/lib/customers/schema';
import { AppError } from '@/lib/errors';
import { defineTool } from '../define-tool';

const ONLY_NUMBERS =
  'No customer number begins with this text. This access hides personal data, so names and e-mail addresses are not searched: ask for the customer number.';

export const findCustomerTool = defineTool({
  name: 'find-customer-tool',
  title: 'Find customer',
  scope: 'customers:read',
  description:
    "Finds customers by part of their number, e-mail, name or company. Use it first, unless you have a customer id. At most 25 matches, best first; if truncated, ask with a longer text. Give a match's id to get-customer-tool or as customer_id to the list tools.",
  input: z.strictObject({ query: customerQuery }),
  output: customerMatches,
  run: async (db, { query }, { masked }) => {
    if (!masked) return findCustomers(db, query);
    // A search for more and more letters would read what is masked.
    const found = await findCustomersByNumber(db, query);
    if (found.count === 0) throw new AppError('not_found', ONLY_NUMBERS);
    return found;
  },
});
