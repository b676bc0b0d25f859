import { z } from 'zod';
import { customerStatus, documentLanguage } from '@/db/schema';
import { searchLine } from '../fields';

/** The maximum number of matches that a search returns. */
export const MAX_MATCHES = 25;

export const customerQuery = searchLine(200).describe(
  'Part of a customer number, e-mail, name ("first last" too) or company, in any case; % and _ are literal.',
);

/** Schema of a row's id. An id that is too large for the database is valid but matches no row. */
export const wholeId = z.int('must be an integer').min(1, 'must be at least 1');

export const customerIdFilter = wholeId.optional();

/** The customer as part of a row of another table, or as a search result. */
export const customerSnippet = z.object({
  id: z.int(),
  customer_number: z.string(),
  /** The company, otherwise the first and last name. */
  name: z.string(),
  email: z.string().nullable(),
  status: z.enum(customerStatus.enumValues),
});

/** The master data of a customer. */
export const customerRow = z.object({
  id: z.int(),
  customer_number: z.string(),
  name: z.string(),
  first_name: z.string().nullable(),
  last_name: z.string().nullable(),
  company: z.string().nullable(),
  email: z.string().nullable(),
  phone: z.string().nullable(),
  street: z.string().nullable(),
  postal_code: z.string().nullable(),
  city: z.string().nullable(),
  country: z.string().nullable().describe('ISO 3166-1 alpha-2'),
  vat_id: z.string().nullable(),
  tax_exempt: z.boolean(),
  currency: z.string().describe('ISO 4217, lower case'),
  status: z.enum(customerStatus.enumValues),
});

/** A customer with the additional fields for documents. Only staff pages and exported files contain them. */
export const customerDetails = customerRow.extend({
  buyer_reference: z.string().nullable(),
  document_language: z.enum(documentLanguage.enumValues).nullable(),
  payment_terms: z.string().nullable(),
});

export const customerMatches = z.object({
  count: z.int().describe('Number of matches listed'),
  truncated: z.boolean().describe(`True when more than ${MAX_MATCHES} customers match`),
  matches: z.array(customerSnippet),
});

export type CustomerSnippet = z.infer<typeof customerSnippet>;
export type CustomerRow = z.infer<typeof customerRow>;
export type CustomerDetails = z.infer<typeof customerDetails>;
export type CustomerMatches = z.infer<typeof customerMatches>;
