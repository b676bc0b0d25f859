import { eq } from 'drizzle-orm';
import { z } from 'zod';
import type { Database } from '@/db/database';
import { company } from '@/db/schema';
import { transact } from '@/db/transaction';
import { type Actor, recordAudit } from '../audit/audit-log';
import { normalVatId, vatIdProblem } from '../countries';
import { AppError, toFieldErrors } from '../errors';
import { textLine } from '../fields';
import { countryCode } from '../records/fields';

/** Our company's details for documents. Fields that staff have not filled in are null. */
export type Company = Omit<typeof company.$inferSelect, 'id' | 'created_at' | 'updated_at'>;

const line = (max: number, normal?: (text: string) => string) => textLine(max, normal).nullable();
const compact = (text: string) => text.replace(/\s/g, '').toUpperCase();

const fields = z
  .strictObject({
    name: line(200),
    street: line(200),
    postal_code: line(20),
    city: line(200),
    country: countryCode.nullable(),
    vat_id: line(50, normalVatId),
    tax_number: line(50),
    register_entry: line(200),
    small_business: z.boolean(),
    contact_name: line(200),
    // XRechnung wants at least three digits (BR-DE-27) and one @ between other characters (BR-DE-28).
    contact_phone: line(100).refine(
      (text) => text === null || (text.match(/\d/g) ?? []).length >= 3,
      'must be a telephone number',
    ),
    contact_email: line(254).refine(
      (text) => text === null || /^[^\s@.][^\s@]*[^\s@.]@[^\s@.][^\s@]*[^\s@.]$/.test(text),
      'must be an e-mail address',
    ),
    bank_name: line(200),
    iban: line(50, compact).refine((text) => text === null || isIban(text), 'must be an IBAN'),
    bic: line(20, compact).refine(
      (text) => text === null || /^[A-Z]{6}[A-Z\d]{2}([A-Z\d]{3})?$/.test(text),
      'must be a BIC of 8 or 11 characters',
    ),
    payment_terms: line(300),
    footer: line(300),
  })
  .superRefine(({ vat_id, country }, context) => {
    const message = vat_id === null ? undefined : vatIdProblem(vat_id, country);
    if (message !== undefined) context.addIssue({ code: 'custom', path: ['vat_id'], message });
  });

/** Returns whether a text without spaces is an IBAN, by its length and its check digits (ISO 13616). */
function isIban(text: string): boolean {
  if (!/^[A-Z]{2}\d{2}[A-Z\d]{11,30}$/.test(text)) return false;
  const digits = (text.slice(4) + text.slice(0, 4)).replace(/[A-Z]/g, (letter) =>
    String(letter.charCodeAt(0) - 55),
  );
  return BigInt(digits) % 97n === 1n;
}

/** Returns our company. All fields are empty before the first save. */
export async function getCompany(db: Database): Promise<Company> {
  const [row] = await db.select().from(company).where(eq(company.id, 1));
  if (!row) return EMPTY;
  const { id: _, created_at: __, updated_at: ___, ...rest } = row;
  return rest;
}

const EMPTY: Company = {
  ...(Object.fromEntries(Object.keys(fields.shape).map((name) => [name, null])) as Record<
    Exclude<keyof Company, 'small_business'>,
    null
  >),
  small_business: false,
};

/**
 * Saves our company. Invoices that are already issued keep their copy of the company, and take from the new one only
 * fields that are empty in the copy.
 *
 * @throws AppError validation_failed with the invalid fields
 */
export async function saveCompany(
  db: Database,
  wanted: Record<keyof Company, unknown>,
  { actor }: { actor: Actor },
): Promise<void> {
  const parsed = fields.safeParse(wanted);
  if (!parsed.success) {
    throw new AppError('validation_failed', 'The company is not saved.', toFieldErrors(parsed.error.issues));
  }
  await transact(db, async (tx) => {
    const [before = null] = await tx.select().from(company).where(eq(company.id, 1)).for('update');
    const [after = null] = before
      ? await tx.update(company).set(parsed.data).where(eq(company.id, 1)).returning()
      : await tx.insert(company).values(parsed.data).returning();
    const entry = { actor, action: 'company.update', entity: 'company', entity_id: 1 } as const;
    await recordAudit(tx, { ...entry, before, after });
  });
}
