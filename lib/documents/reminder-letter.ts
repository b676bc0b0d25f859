import { z } from 'zod';
import type { Database } from '@/db/database';
import { type ReminderLevel, reminderSettings } from '@/db/schema';
import { transact } from '@/db/transaction';
import { recordAudit } from '../audit/audit-log';
import { addDays } from '../dates';
import { AppError, type FieldError } from '../errors';
import { type DueInvoice, LEVELS, type ReminderRules } from '../invoices/reminders';
import { fromThousandths, toThousandths } from '../money';
import type { SettingsWriter } from '../records/record-kind';
import { outdated } from '../records/save-records';
import type { Company } from './company';
import { type Language, languageFor } from './phrases';
import { formatDay, numberFormats } from './printed-texts';
import { spaced } from './sheet';

/** Settings of payment reminders: the days between two reminders, and for each level when it is due and its texts. */
export interface ReminderSettings {
  pause_days: number;
  /** The levels 1, 2 and 3. */
  levels: ReminderLevel[];
}

const LANGUAGES = ['de', 'en'] as const;

/** The placeholders that the texts may contain, and the meaning of each. */
export const PLACEHOLDERS = {
  customer: 'name of the customer',
  customer_number: 'number of the customer',
  invoices: 'a line for each invoice with its amount, due date and days overdue',
  totals: 'sum of the invoices, by currency',
  date: 'today',
  pay_by: 'the day from which the next reminder may follow',
  bank: 'our bank account',
  company: 'our company',
} as const;
type Placeholder = keyof typeof PLACEHOLDERS;

const german = (subject: string, opening: string, closing: string) =>
  `Betreff: ${subject}, Kundennummer {customer_number}\n\nGuten Tag, {customer},\n\n${opening}\n\n{invoices}\n\nOffener Betrag: {totals}\n\nBitte überweisen Sie ihn bis zum {pay_by} unter Angabe der Rechnungsnummern auf dieses Konto:\n\n{bank}\n\n${closing}\n\nMit freundlichen Grüßen\n{company}`;
const english = (subject: string, opening: string, closing: string) =>
  `Subject: ${subject}, customer number {customer_number}\n\nDear {customer},\n\n${opening}\n\n{invoices}\n\nAmount due: {totals}\n\nPlease transfer it by {pay_by}, with the invoice numbers as reference, to this account:\n\n{bank}\n\n${closing}\n\nKind regards\n{company}`;

const PAID = {
  de: 'Wenn Sie inzwischen bezahlt haben, betrachten Sie dieses Schreiben bitte als gegenstandslos.',
  en: 'If you have paid in the meantime, please disregard this letter.',
};

/** The settings before the first save. */
export const DEFAULTS: ReminderSettings = {
  pause_days: 7,
  levels: [
    {
      days: 7,
      texts: {
        de: german('Zahlungserinnerung', 'bestimmt haben Sie übersehen, dass noch offen ist:', PAID.de),
        en: english(
          'Payment reminder',
          'You may have overlooked that these invoices are still open:',
          PAID.en,
        ),
      },
    },
    {
      days: 21,
      texts: {
        de: german('Mahnung', 'trotz unserer Zahlungserinnerung ist noch offen:', PAID.de),
        en: english('Second reminder', 'Despite our reminder, these invoices are still open:', PAID.en),
      },
    },
    {
      days: 35,
      texts: {
        de: german(
          'Letzte Mahnung',
          'trotz unserer Mahnung ist noch offen:',
          `Geht bis dahin kein Geld ein, behalten wir uns vor, Ihre Dienste zu sperren und die Forderung gerichtlich geltend zu machen. ${PAID.de}`,
        ),
        en: english(
          'Final reminder',
          'Despite our earlier reminders, these invoices are still open:',
          `If we do not receive the money by then, we may suspend your services and take legal action. ${PAID.en}`,
        ),
      },
    },
  ],
};

/** Returns the settings, or the defaults before the first save. */
export async function getReminderSettings(db: Database): Promise<ReminderSettings> {
  const [row] = await db.select().from(reminderSettings);
  return row ? { pause_days: row.pause_days, levels: row.levels } : DEFAULTS;
}

/** Returns the rules for when reminders are due, without the texts. */
export const toRules = ({ pause_days, levels }: ReminderSettings): ReminderRules => ({
  pause: pause_days,
  days: levels.map(({ days }) => days),
});

export const getReminderRules = async (db: Database): Promise<ReminderRules> =>
  toRules(await getReminderSettings(db));

/** Names of the form's fields. */
export const REMINDER_FORM = [
  'pause_days',
  ...LEVELS.flatMap((level) => [`days_${level}`, `de_${level}`, `en_${level}`] as const),
] as const;
type TypedSettings = Record<(typeof REMINDER_FORM)[number], string>;

/** Returns the settings as the values of the form's fields. */
export function toTyped({ pause_days, levels }: ReminderSettings): Record<string, string> {
  const fields = levels.flatMap(({ days, texts }, at): [string, string][] => {
    const level = LEVELS[at];
    return [
      [`days_${level}`, String(days ?? '')],
      [`de_${level}`, texts.de],
      [`en_${level}`, texts.en],
    ];
  });
  return { pause_days: String(pause_days), ...Object.fromEntries(fields) };
}

/**
 * Saves the settings of payment reminders.
 *
 * @throws AppError validation_failed with the invalid fields; precondition_failed
 */
export async function saveReminderSettings(
  db: Database,
  typed: TypedSettings,
  { actor, precondition = () => true }: SettingsWriter<ReminderSettings>,
): Promise<void> {
  const { settings, problems } = readTyped(typed);
  if (problems.length > 0) throw new AppError('validation_failed', 'The reminders are not saved.', problems);
  await transact(db, async (tx) => {
    const [before = null] = await tx.select().from(reminderSettings).for('update');
    if (!precondition(await getReminderSettings(tx))) throw outdated();
    const [after = null] = before
      ? await tx.update(reminderSettings).set(settings).returning()
      : await tx.insert(reminderSettings).values(settings).returning();
    const entry = { actor, action: 'reminder_settings.update', entity_id: 1 } as const;
    await recordAudit(tx, { ...entry, entity: 'reminder_settings', before, after });
  });
}

/** Maximum length of a text, in characters. */
export const MAX_TEXT = 4000;

// biome-ignore lint/suspicious/noControlCharactersInRegex: finds control characters on purpose
const CONTROL = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/;
const NAMED = /\{([^{}\n]*)\}/g;

const letterText = z
  .string()
  .overwrite((text) => text.replaceAll(/\r\n?/g, '\n').trim())
  .min(1, 'must not be empty')
  .max(MAX_TEXT, `must have at most ${MAX_TEXT} characters`)
  .refine((text) => text.isWellFormed() && !CONTROL.test(text), 'must not contain control characters')
  .superRefine((text, context) => {
    const unknown = [...text.matchAll(NAMED)].find(([, name = '']) => !Object.hasOwn(PLACEHOLDERS, name));
    const known = Object.keys(PLACEHOLDERS).map((name) => `{${name}}`);
    if (unknown)
      context.addIssue({
        code: 'custom',
        message: `contains the unknown placeholder ${unknown[0]}: use ${known.join(', ')}`,
      });
  });

function readTyped(typed: TypedSettings): { settings: ReminderSettings; problems: FieldError[] } {
  const problems: FieldError[] = [];
  const numberIn = (field: keyof TypedSettings) => {
    const text = typed[field].trim();
    if (/^\d{1,3}$/.test(text) && Number(text) >= 1 && Number(text) <= 365) return Number(text);
    problems.push({ field, message: 'must be a number of days from 1 to 365' });
    return 1;
  };
  const pause_days = numberIn('pause_days');
  let earlier: number | null = 0;
  const levels = LEVELS.map((level): ReminderLevel => {
    const field = `days_${level}` as const;
    const days = level !== '1' && typed[field].trim() === '' ? null : numberIn(field);
    if (days !== null && earlier === null)
      problems.push({ field, message: 'must be empty if the level before is not used' });
    if (days !== null && earlier !== null && days <= earlier)
      problems.push({ field, message: 'must be more than the days of the level before' });
    earlier = days;
    const texts = LANGUAGES.map((language) => {
      const name = `${language}_${level}` as const;
      const parsed = letterText.safeParse(typed[name]);
      if (parsed.success) return parsed.data;
      problems.push({ field: name, message: parsed.error.issues[0]?.message ?? 'is wrong' });
      return '';
    });
    const [de = '', en = ''] = texts;
    return { days, texts: { de, en } };
  });
  return { settings: { pause_days, levels }, problems };
}

/** The recipient's details that a reminder depends on. */
interface Recipient {
  name: string;
  customer_number: string;
  country: string | null;
  document_language: Language | null;
}

/** Returns the language of a customer's reminders, which is also the language of the customer's documents. */
export const reminderLanguage = ({ document_language, country }: Recipient): Language =>
  document_language ?? languageFor(country);

interface Letter {
  settings: ReminderSettings;
  customer: Recipient;
  company: Company;
  /** The invoices that are due for a reminder, at least one. */
  due: DueInvoice[];
  today: string;
  language: Language;
}

/** Returns the text for the highest level among the due invoices, with its placeholders replaced. */
export function writeReminder({ settings, customer, company, due, today, language }: Letter): string {
  const level = Math.max(...due.map((one) => one.level));
  const totals = new Map<string, number>();
  for (const { currency, amount_due } of due) {
    totals.set(currency, (totals.get(currency) ?? 0) + toThousandths(amount_due));
  }
  const money = (text: string, currency: string) => numberFormats({ language, currency }).money(text);
  const values: Record<Placeholder, string> = {
    customer: customer.name,
    customer_number: customer.customer_number,
    invoices: due.map((one) => lineOf(one, language)).join('\n'),
    totals: [...totals].map(([currency, sum]) => money(fromThousandths(sum), currency)).join(', '),
    date: formatDay(today, language),
    pay_by: formatDay(addDays(today, settings.pause_days), language),
    bank: [
      company.name,
      company.iban && `IBAN ${spaced(company.iban)}`,
      company.bic && `BIC ${company.bic}`,
      company.bank_name,
    ]
      .filter(Boolean)
      .join('\n'),
    company: company.name ?? '',
  };
  const text = settings.levels[level - 1]?.texts[language] ?? '';
  return text.replaceAll(NAMED, (whole, name: string) =>
    Object.hasOwn(values, name) ? values[name as Placeholder] : whole,
  );
}

function lineOf(invoice: DueInvoice, language: Language): string {
  const { id, number, currency, amount_due, due, days, stripe_invoice_id } = invoice;
  const named = number ?? `#${id}`;
  const amount = numberFormats({ language, currency }).money(amount_due);
  const day = formatDay(due, language);
  const isStripes = stripe_invoice_id !== null;
  return language === 'de'
    ? `${named}: ${amount}, fällig am ${day}, seit ${days} ${days === 1 ? 'Tag' : 'Tagen'} überfällig${isStripes ? ', zahlbar über die Zahlungsseite von Stripe' : ''}`
    : `${named}: ${amount}, due on ${day}, ${days} ${days === 1 ? 'day' : 'days'} overdue${isStripes ? ', payable on the payment page of Stripe' : ''}`;
}
