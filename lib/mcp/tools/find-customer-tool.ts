import { z } from 'zod';
import { findCustomers } from '@/lib/customers/find-customers';
import { customerMatches, customerQuery } from '@/lib/customers/schema';
import { defineTool } from '../define-tool';

export const findCustomerTool = defineTool({
  name: 'find-customer-tool',
  title: 'Find customer',
  scope: 'customers:read',
  description:
    "Finds customers by part of their number, e-mail, first name, last name or company. Use it first, unless you have a customer id. Answers at most 25 matches, best first; where truncated, ask with a longer text. Give a match's id to get-customer-tool or as customer_id to the list tools.",
  input: z.strictObject({ query: customerQuery }),
  output: customerMatches,
  run: (db, { query }) => findCustomers(db, query),
});
