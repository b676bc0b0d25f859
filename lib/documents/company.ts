import { createHash } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { z } from 'zod';
import type { Database } from '@/db/database';
import { company } from '@/db/schema';
import { transact } from '@/db/transaction';
import { type Actor, recordAudit } from '../audit/audit-log';
import { normalVatId, vatIdProblem } from '../countries';
import { AppError, toFieldErrors } from '../errors';
import { textLine } from '../fields';
import { isPrintable } from '../printable';
import { countryCode } from '../records/fields';
import { toLogo } from './logo';

/** Our company's details for documents. Fields that staff have not filled in are null. */
export type Company = Omit<typeof company.$inferSelect, 'id' | 'created_at' | 'updated_at'>;

/** Maximum length of each text of the company, by field. */
export const COMPANY_LENGTHS = {
  name: 200,
  street: 200,
  postal_code: 20,
  city: 200,
  vat_id: 50,
  tax_number: 50,
  register_entry: 200,
  contact_name: 200,
  contact_phone: 100,
  contact_email: 254,
  bank_name: 200,
  iban: 50,
  bic: 20,
  payment_terms: 300,
  footer: 300,
};

/** Maximum size of the file of a logo, in bytes. */
export const MAX_LOGO_BYTES = 200_000;

const line = (name: keyof typeof COMPANY_LENGTHS, normal?: (text: string) => string) =>
  textLine(COMPANY_LENGTHS[name], normal).superRefine(isPrintable).nullable();
const compact = (text: string) => text.replace(/\s/g, '').toUpperCase();

const fields = z
  .strictObject({
    name: line('name'),
    street: line('street'),
    postal_code: line('postal_code'),
    city: line('city'),
    country: countryCode.nullable(),
    vat_id: line('vat_id', normalVatId),
    tax_number: line('tax_number'),
    register_entry: line('register_entry'),
    small_business: z.boolean(),
    contact_name: line('contact_name'),
    // XRechnung wants at least three digits (BR-DE-27) and one @ between other characters (BR-DE-28).
    contact_phone: line('contact_phone').refine(
      (text) => text === null || (text.match(/\d/g) ?? []).length >= 3,
      'must be a telephone number',
    ),
    contact_email: line('contact_email').refine(
      (text) => text === null || /^[^\s@.][^\s@]*[^\s@.]@[^\s@.][^\s@]*[^\s@.]$/.test(text),
      'must be an e-mail address',
    ),
    bank_name: line('bank_name'),
    iban: line('iban', compact).refine((text) => text === null || isIban(text), 'must be an IBAN'),
    bic: line('bic', compact).refine(
      (text) => text === null || /^[A-Z]{6}[A-Z\d]{2}([A-Z\d]{3})?$/.test(text),
      'must be a BIC of 8 or 11 characters',
    ),
    payment_terms: line('payment_terms'),
    footer: line('footer'),
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
    Exclude<keyof Company, 'small_business' | 'logo'>,
    null
  >),
  small_business: false,
  logo: null,
};

/**
 * Saves our company. Invoices that are already issued keep their copy of the company, and take from the new one only
 * fields that are empty in the copy.
 *
 * @param logo the file of a new logo; null removes the logo, and undefined keeps it
 * @throws AppError validation_failed with the invalid fields
 */
export async function saveCompany(
  db: Database,
  wanted: Record<Exclude<keyof Company, 'logo'>, unknown>,
  { actor, logo: file }: { actor: Actor; logo?: Buffer | null | undefined },
): Promise<void> {
  const parsed = fields.safeParse(wanted);
  const logo = file ? readLogo(file) : { logo: file };
  if (!parsed.success || 'problem' in logo) {
    const problems = [
      ...(parsed.error ? toFieldErrors(parsed.error.issues) : []),
      ...('problem' in logo ? [{ field: 'logo', message: logo.problem }] : []),
    ];
    throw new AppError('validation_failed', 'The company is not saved.', problems);
  }
  const values = { ...parsed.data, ...logo };
  await transact(db, async (tx) => {
    const [before = null] = await tx.select().from(company).where(eq(company.id, 1)).for('update');
    const [after = null] = before
      ? await tx.update(company).set(values).where(eq(company.id, 1)).returning()
      : await tx.insert(company).values(values).returning();
    const entry = { actor, action: 'company.update', entity: 'company', entity_id: 1 } as const;
    await recordAudit(tx, { ...entry, before: audited(before), after: audited(after) });
  });
}

const readLogo = (file: Buffer) =>
  file.byteLength > MAX_LOGO_BYTES
    ? { problem: `must have at most ${MAX_LOGO_BYTES / 1000} KB` }
    : toLogo(file);

/** Returns the row for the audit log, with a digest instead of the picture. */
const audited = (row: typeof company.$inferSelect | null) =>
  row && { ...row, logo: row.logo && `SHA-256 ${createHash('sha256').update(row.logo).digest('hex')}` };
