import { createHash } from 'node:crypto';
import { inflateSync } from 'node:zlib';
import { eq } from 'drizzle-orm';
import { z } from 'zod';
import type { Database } from '@/db/database';
import { company } from '@/db/schema';
import { transact } from '@/db/transaction';
import { recordAudit } from '../audit/audit-log';
import { normalVatId, startsWithCountry, vatIdProblem } from '../countries';
import { AppError, toFieldErrors } from '../errors';
import { IBAN_FORM, textLine } from '../fields';
import { isPrintable } from '../printable';
import { countryCode, paymentTerms } from '../records/fields';
import type { SettingsWriter } from '../records/record-kind';
import { outdated } from '../records/save-records';

/** Our company's details for documents. All but `small_business` are null until staff fill them in. */
export type Company = Omit<typeof company.$inferSelect, 'id' | 'created_at' | 'updated_at'>;

/** Maximum length of each company text, keyed by field. */
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
  other_ibans: 1000,
  payment_terms: 300,
  footer: 300,
};

/** Maximum size of a logo file, in bytes. */
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
    // XRechnung requires at least three digits in the telephone number (BR-DE-27), and an @ inside the e-mail (BR-DE-28).
    contact_phone: line('contact_phone').refine(
      (text) => text === null || (text.match(/\d/g) ?? []).length >= 3,
      'must be a telephone number',
    ),
    contact_email: line('contact_email').refine(
      (text) => text === null || /^[^\s@.][^\s@]*[^\s@.]@[^\s@.][^\s@]*[^\s@.]$/.test(text),
      'must be an e-mail address',
    ),
    bank_name: line('bank_name'),
    iban: line('iban', compact).superRefine((text, context) => {
      const message = text === null ? undefined : ibanProblem(text);
      if (message !== undefined) context.addIssue({ code: 'custom', message });
    }),
    bic: line('bic', compact).refine(
      (text) => text === null || /^[A-Z]{6}[A-Z\d]{2}([A-Z\d]{3})?$/.test(text),
      'must be a BIC of 8 or 11 characters',
    ),
    other_ibans: line('other_ibans', (text) => toIbans(text).join(', ')).superRefine((text, context) => {
      for (const one of toIbans(text)) {
        const problem = ibanProblem(one);
        if (problem) context.addIssue({ code: 'custom', message: `${one} ${problem}` });
      }
    }),
    payment_terms: paymentTerms.superRefine(isPrintable).nullable(),
    footer: line('footer'),
  })
  .superRefine(({ vat_id, country }, context) => {
    if (vat_id === null) return;
    // Outside the EU, an e-invoice requires no format, but a country code at the start (BR-CO-09).
    const message =
      vatIdProblem(vat_id, country) ?? (startsWithCountry(vat_id) ? undefined : NO_COUNTRY_CODE);
    if (message !== undefined) context.addIssue({ code: 'custom', path: ['vat_id'], message });
  });

const NO_COUNTRY_CODE = 'must start with a country code, such as NO123456789MVA';

/** Splits a text at commas and semicolons into IBANs, each without spaces and in capitals. */
const toIbans = (text: string | null) => (text ?? '').split(/[,;]/).map(compact).filter(Boolean);

/** Returns the IBANs of our accounts. Documents print only `iban`. Empty if staff have not entered an IBAN. */
export const ownIbans = ({ iban, other_ibans }: Pick<Company, 'iban' | 'other_ibans'>): string[] => [
  ...new Set([...toIbans(iban), ...toIbans(other_ibans)]),
];

/** Returns why a text without spaces is not an IBAN, or undefined. Checks its form and its check digits (ISO 13616). */
function ibanProblem(text: string): string | undefined {
  if (!IBAN_FORM.test(text)) {
    return 'must be a two-letter country code, two digits, and 11 to 30 letters and digits, such as DE89 3704 0044 0532 0130 00';
  }
  const digits = (text.slice(4) + text.slice(0, 4)).replace(/[A-Z]/g, (letter) =>
    String(letter.charCodeAt(0) - 55),
  );
  if (BigInt(digits) % 97n === 1n) return undefined;
  return `has a wrong or missing character, because its check digits ${text.slice(2, 4)} do not match: compare it with the IBAN from your bank, such as DE89 3704 0044 0532 0130 00`;
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
 * Saves our company's details. An issued invoice keeps its copy of them. The new details only fill fields that are
 * empty in the copy.
 *
 * @param logo the file of a new logo; null removes the logo, and undefined keeps it
 * @throws AppError validation_failed with the invalid fields; precondition_failed
 */
export async function saveCompany(
  db: Database,
  wanted: Record<Exclude<keyof Company, 'logo'>, unknown>,
  {
    actor,
    logo: file,
    precondition = () => true,
  }: SettingsWriter<Company> & { logo?: Buffer | null | undefined },
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
    if (!precondition(await getCompany(tx))) throw outdated();
    const [after = null] = before
      ? await tx.update(company).set(values).where(eq(company.id, 1)).returning()
      : await tx.insert(company).values(values).returning();
    const entry = { actor, action: 'company.update', entity: 'company', entity_id: 1 } as const;
    await recordAudit(tx, { ...entry, before: toAuditImage(before), after: toAuditImage(after) });
  });
}

const readLogo = (file: Buffer) =>
  file.byteLength > MAX_LOGO_BYTES
    ? { problem: `must have at most ${MAX_LOGO_BYTES / 1000} KB` }
    : toLogo(file);

/** Returns the row for the audit log, with the logo's digest instead of the logo. */
const toAuditImage = (row: typeof company.$inferSelect | null) =>
  row && { ...row, logo: row.logo && `SHA-256 ${createHash('sha256').update(row.logo).digest('hex')}` };

/** Maximum width and height of a logo in pixels. A larger logo would slow down each document. */
const MAX_PIXELS = 1500;

/**
 * Returns a logo as a data URL, or the reason why the file cannot be printed. Checks the bytes, because names and media
 * types of uploaded files can be wrong, and a damaged picture would prevent every later document.
 */
function toLogo(bytes: Buffer): { logo: string } | { problem: string } {
  const type = isPng(bytes) ? 'png' : isJpeg(bytes) ? 'jpeg' : null;
  if (type === null) return { problem: 'must be a PNG or JPEG file' };
  const size = type === 'png' ? readPng(bytes) : readJpeg(bytes);
  if (size === null) return { problem: 'cannot be read: save the image again, as PNG or as JPEG in RGB' };
  if (size.width > MAX_PIXELS || size.height > MAX_PIXELS) {
    return { problem: `must have at most ${MAX_PIXELS} × ${MAX_PIXELS} pixels` };
  }
  return { logo: `data:image/${type};base64,${bytes.toString('base64')}` };
}

const PNG = Buffer.from('89504e470d0a1a0a', 'hex');
const isPng = (bytes: Buffer) => bytes.subarray(0, PNG.length).equals(PNG);
const isJpeg = (bytes: Buffer) => bytes.length > 4 && bytes.readUIntBE(0, 3) === 0xffd8ff;

interface Size {
  width: number;
  height: number;
}

/** Samples per pixel, keyed by PNG colour type. */
const CHANNELS: Record<number, number> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

/** Returns the size of a PNG picture. Returns null if it is damaged or interlaced. */
function readPng(bytes: Buffer): Size | null {
  const chunks = new Map<string, Buffer[]>();
  for (let at = PNG.length; at + 12 <= bytes.length; at += 12 + bytes.readUInt32BE(at)) {
    const name = bytes.toString('latin1', at + 4, at + 8);
    const content = bytes.subarray(at + 8, at + 8 + bytes.readUInt32BE(at));
    chunks.set(name, [...(chunks.get(name) ?? []), content]);
  }
  const [header] = chunks.get('IHDR') ?? [];
  if (header?.length !== 13 || !chunks.has('IEND')) return null;
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const [depth = 0, type = -1, , , interlace] = header.subarray(8);
  const channels = CHANNELS[type];
  const isWhole = width > 0 && height > 0 && [1, 2, 4, 8, 16].includes(depth) && interlace === 0;
  if (!channels || !isWhole || (type === 3 && !chunks.has('PLTE'))) return null;
  if (width > MAX_PIXELS || height > MAX_PIXELS) return { width, height };
  // Each row of pixels begins with one byte for the type of its filter.
  const expected = height * (1 + Math.ceil((width * channels * depth) / 8));
  try {
    const pixels = inflateSync(Buffer.concat(chunks.get('IDAT') ?? []), { maxOutputLength: expected });
    return pixels.length === expected ? { width, height } : null;
  } catch {
    // zlib throws for damaged data and for more data than expected.
    return null;
  }
}

/**
 * Returns the size of a JPEG picture in grey or RGB. Returns null for a damaged picture, for a kind of JPEG that PDF
 * viewers may not show, and for other colors, because PDF/A would need another color profile for them.
 */
function readJpeg(bytes: Buffer): Size | null {
  for (let at = 2; at + 10 <= bytes.length && bytes[at] === 0xff; at += 2 + bytes.readUInt16BE(at + 2)) {
    const marker = bytes.readUInt8(at + 1);
    // SOF0 to SOF2 (baseline, extended, progressive) are the kinds that PDF viewers show.
    if (marker < 0xc0 || marker > 0xc2) continue;
    const isPlain = bytes[at + 4] === 8 && [1, 3].includes(bytes[at + 9] ?? 0);
    const [height, width] = [bytes.readUInt16BE(at + 5), bytes.readUInt16BE(at + 7)];
    const isWhole = width > 0 && height > 0 && bytes.includes(Buffer.from('ffd9', 'hex'), at);
    return isPlain && isWhole ? { width, height } : null;
  }
  return null;
}
