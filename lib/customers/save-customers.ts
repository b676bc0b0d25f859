import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { type Database, lockKey, rows } from '@/db/database';
import { customerStatus, customers } from '@/db/schema';
import { normalVatId, vatIdProblem } from '../countries';
import type { FieldError } from '../errors';
import { textLine } from '../fields';
import { countryCode, currencyCode, optionalChoice, optionalText } from '../records/fields';
import type { RecordKind, Writing } from '../records/record-kind';
import type { SteppedKind } from '../records/steps';
import type { TypedKind } from '../records/typed-record';
import { hasOwnNumber } from './match-customer';
import { findMergedNumbers } from './merged-customers';

/** Error for writes to an erased customer. */
const ERASED = 'This customer was erased and can no longer be changed.';

/** Customers as people write them; a new one without a number takes the next K number. */
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
    vat_id: textLine(50, normalVatId).nullable().optional(),
    tax_exempt: z.boolean('must be true or false').optional(),
    currency: currencyCode.optional(),
    status: optionalChoice(customerStatus.enumValues),
  }),
  check: checkCustomer,
  nextKey: nextCustomerNumber,
  afterwards: (tx, written, { now }) => lookAgain(tx, written.filter(isNumbered), now),
};

function checkCustomer({ before, after, changes }: Writing): FieldError[] {
  if (before?.erased_at) return [{ field: '', message: ERASED }];
  const isNamed = after.company || after.last_name || after.first_name;
  const problems = isNamed ? [] : [{ field: 'company', message: 'or a name is needed' }];
  // What was stored before this rule, or came from Stripe, does not stop another change.
  const isGiven = changes.vat_id !== undefined || changes.country !== undefined;
  const problem =
    isGiven && after.vat_id != null
      ? vatIdProblem(String(after.vat_id), after.country == null ? null : String(after.country))
      : undefined;
  return problem === undefined ? problems : [...problems, { field: 'vat_id', message: problem }];
}

/** As sync numbers the customers that it creates. */
async function nextCustomerNumber(tx: Database): Promise<string> {
  await lockKey(tx, 'customer numbers'); // no row can refer to a number before it is given
  const [next] = await rows<{ number: string }>(tx, sql`select next_customer_number() as number`);
  return String(next?.number);
}

const isNumbered = ({ changes }: Writing) => changes.customer_number !== undefined;

/** Stripe may have named this number before a customer had it, so the daily job asks Stripe again whose it is. */
async function lookAgain(tx: Database, written: Writing[], now: Date): Promise<void> {
  if (written.length === 0) return;
  // A commit of sync that found no customer of such a number comes before this, or sees it: see commit_plan.
  await lockKey(tx, 'customer numbers');
  const numbers = JSON.stringify(written.map(({ after }) => after.customer_number));
  // Looked for one by one, by index: how many links name a number, PostgreSQL cannot know.
  await tx.execute(sql`update stripe_customers l set recheck_at = ${now.toISOString()}::timestamptz
    where l.recheck_at is null and l.linked_by <> 'staff' and l.stripe_customer_id in (
      select named.id from jsonb_array_elements_text(${numbers}::jsonb) as number, lateral (
        select s.stripe_customer_id as id from stripe_customers s where s.numbers <> '[]'
          and lower(s.numbers::text)::jsonb @> jsonb_build_array(jsonb_build_object('number', lower(number)))
        offset 0
      ) named
    )`);
}

/** A customer as a form has it; its status changes by steps. */
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
    currency: 'currency',
  },
} satisfies TypedKind;

/** Files may also say `blocked`, which means no more than `inactive` does: staff only deactivate. */
export const customerSteps = {
  kind: customerKind,
  steps: {
    reactivate: { from: ['inactive', 'blocked'], to: 'active' },
    deactivate: { from: ['active', 'blocked'], to: 'inactive' },
  },
} satisfies SteppedKind;
