import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { type Database, lockKey, rows } from '@/db/database';
import { customerStatus, customers, documentLanguage } from '@/db/schema';
import { normalVatId, vatIdProblem } from '../countries';
import type { FieldError } from '../errors';
import { oneOf, textLine } from '../fields';
import { countryCode, currencyCode, optionalChoice, optionalText, paymentTerms } from '../records/fields';
import type { RecordKind, RecordWriter, Writing } from '../records/record-kind';
import type { SteppedKind } from '../records/steps';
import type { TypedKind } from '../records/typed-record';
import { hasOwnNumber } from './match-customer';
import { findMergedNumbers } from './merged-customers';

/** Error for writes to an erased customer. */
const ERASED = 'This customer was erased and can no longer be changed.';

/** The rules for writing customers. A new customer without a number gets the next number, such as K10001. */
export const customerKind: RecordKind = {
  name: 'customer',
  table: customers,
  key: 'customer_number',
  toKey: (number) => number.toLowerCase(),
  hasKey: hasOwnNumber,
  findUnavailable: findMergedNumbers,
  fields: z.object({
    customer_number: textLine(100).optional(),
    first_name: optionalText(200),
    last_name: optionalText(200),
    company: optionalText(200),
    email: textLine(254)
      .regex(/^[^\s@]+@[^\s@]+$/, 'must be an e-mail address')
      .nullable()
      .optional(),
    phone: optionalText(100),
    street: optionalText(200),
    postal_code: optionalText(20),
    city: optionalText(200),
    country: countryCode.nullable().optional(),
    vat_id: optionalText(50, normalVatId),
    tax_exempt: z.boolean('must be true or false').optional(),
    buyer_reference: optionalText(100),
    document_language: oneOf(documentLanguage.enumValues).nullable().optional(),
    payment_terms: paymentTerms.nullable().optional(),
    currency: currencyCode.optional(),
    status: optionalChoice(customerStatus.enumValues),
  }),
  check: checkCustomer,
  nextKey: nextCustomerNumber,
  afterwards: (tx, written, { now }) => recheckStripeCustomers(tx, written.filter(hasNewNumber), now),
};

function checkCustomer({ before, after, changes }: Writing, { importId }: RecordWriter): FieldError[] {
  if (before?.erased_at) return [{ field: '', message: ERASED }];
  // A customer that Stripe reported without a name, or an invalid VAT ID that was stored before its rule existed, must
  // not block changes of other fields. An import of our own export must accept a customer without a name, too.
  const isGiven = (...names: string[]) => !before || names.some((name) => changes[name] !== undefined);
  const isNamed =
    after.company || after.last_name || after.first_name || (importId !== undefined && after.email);
  const isNameless = !isNamed && isGiven('company', 'last_name', 'first_name');
  const problems = isNameless
    ? [{ field: 'company', message: 'must not be empty unless there is a name' }]
    : [];
  if (!isGiven('vat_id', 'country') || after.vat_id == null) return problems;
  const message = vatIdProblem(String(after.vat_id), after.country == null ? null : String(after.country));
  return message === undefined ? problems : [...problems, { field: 'vat_id', message }];
}

/** Returns the next customer number. The Stripe sync numbers its customers by the same SQL function. */
async function nextCustomerNumber(tx: Database): Promise<string> {
  await lockKey(tx, 'customer numbers'); // Use an advisory lock, because an unassigned number has no row to lock.
  const [next] = await rows<{ number: string }>(tx, sql`select next_customer_number() as number`);
  return String(next?.number);
}

const hasNewNumber = ({ changes }: Writing) => changes.customer_number !== undefined;

/**
 * Schedules a recheck of the Stripe customers that named one of these customer numbers before it existed. Skips those
 * that staff linked.
 */
async function recheckStripeCustomers(tx: Database, written: Writing[], now: Date): Promise<void> {
  if (written.length === 0) return;
  // `commit_plan` takes this lock when it found no customer with a number. The commit therefore either ends before this
  // transaction continues, or sees the new number and is retried.
  await lockKey(tx, 'customer numbers');
  const numbers = JSON.stringify(written.map(({ after }) => after.customer_number));
  // `offset 0` makes PostgreSQL look up each number by index, because it cannot estimate how many links contain a
  // number.
  await tx.execute(sql`update stripe_customers l set recheck_at = ${now.toISOString()}::timestamptz
    where l.recheck_at is null and l.linked_by <> 'staff' and l.stripe_customer_id in (
      select named.id from jsonb_array_elements_text(${numbers}::jsonb) as number, lateral (
        select s.stripe_customer_id as id from stripe_customers s where s.numbers <> '[]'
          and lower(s.numbers::text)::jsonb @> jsonb_build_array(jsonb_build_object('number', lower(number)))
        offset 0
      ) named
    )`);
}

/** A customer's form fields, without the status, which `customerSteps` change. */
export const typedCustomer = {
  kind: customerKind,
  fields: {
    customer_number: 'text',
    company: 'text',
    first_name: 'text',
    last_name: 'text',
    email: 'text',
    phone: 'text',
    street: 'text',
    postal_code: 'text',
    city: 'text',
    country: 'country',
    vat_id: 'text',
    tax_exempt: 'flag',
    buyer_reference: 'text',
    document_language: 'choice',
    payment_terms: 'text',
    currency: 'currency',
  },
} satisfies TypedKind;

/** Status changes of a customer. Imports may also set `blocked`, which has the same effects as `inactive`. */
export const customerSteps = {
  kind: customerKind,
  steps: {
    reactivate: { from: ['inactive', 'blocked'], to: 'active' },
    deactivate: { from: ['active', 'blocked'], to: 'inactive' },
  },
} satisfies SteppedKind;
