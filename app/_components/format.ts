import { toCalendarDate } from '@/lib/dates';
import { currencyDecimals } from '@/lib/money';
import { unmistakable } from '@/lib/read-amount';

const LOCALE = 'en-GB';

/** Formats an amount with the decimals of its currency: 1234.5 EUR becomes "€1,234.50". */
export function formatMoney(amount: number, currency: string): string {
  const digits = currencyDecimals(currency);
  return formatCurrency(amount, currency, { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** Formats an amount for the scale of a chart: 12345 EUR becomes "€12.3k". */
export function formatShortMoney(amount: number, currency: string): string {
  const digits = { minimumFractionDigits: 0, maximumFractionDigits: 1 };
  return formatCurrency(amount, currency, { notation: 'compact', ...digits });
}

function formatCurrency(amount: number, currency: string, format: Intl.NumberFormatOptions): string {
  const code = currency.toUpperCase();
  return new Intl.NumberFormat(LOCALE, { style: 'currency', currency: code, ...format }).format(amount);
}

/** Formats an amount for an input field: 1234.5 EUR becomes "1234.50". */
export function formatPlainAmount(amount: number, currency: string): string {
  return unmistakable(amount.toFixed(currencyDecimals(currency)));
}

/** Formats a calendar date: "2026-03-01" becomes "1 Mar 2026". */
export function formatDate(date: string): string {
  return formatParts(`${date}T00:00:00Z`, { dateStyle: 'medium', timeZone: 'UTC' });
}

/** Formats the month of a calendar date: "2026-03-01" becomes "March 2026". */
export function formatMonth(date: string): string {
  return formatParts(`${date}T00:00:00Z`, { month: 'long', year: 'numeric', timeZone: 'UTC' });
}

/** Formats the calendar date of an instant in the given time zone: "1 Mar 2026". */
export function formatDay(instant: Date, timeZone: string): string {
  return formatDate(toCalendarDate(instant, timeZone));
}

/** Formats an instant in the given time zone: "1 Mar 2026, 14:05 CET". */
export function formatInstant(instant: Date | string, timeZone: string): string {
  return formatParts(instant, { ...DAY, ...MINUTE, timeZone });
}

/** Formats the time of day of an instant in the given time zone: "14:05 CET". */
export function formatTime(instant: Date, timeZone: string): string {
  return formatParts(instant, { ...MINUTE, timeZone });
}

/** Formats an instant with seconds in the given time zone: "1 Mar 2026, 14:05:33 CET". */
export function formatSecond(instant: Date | string, timeZone: string): string {
  return formatParts(instant, { ...DAY, ...MINUTE, second: '2-digit', timeZone });
}

/**
 * Formats the start time of the daily reconciliation: "03:40 (Europe/Berlin)".
 *
 * @param timeZone time zone of the 03:40 start; null for the server's own time zone
 */
export function formatDailyRun(timeZone: string | null): string {
  return `03:40 (${timeZone ?? 'server time'})`;
}

// These formats name every part, because Intl does not accept `timeZoneName` with `dateStyle` or `timeStyle`.
const DAY = { day: 'numeric', month: 'short', year: 'numeric' } as const;
const MINUTE = { hour: '2-digit', minute: '2-digit', timeZoneName: 'short' } as const;

function formatParts(instant: Date | string, parts: Intl.DateTimeFormatOptions): string {
  return new Intl.DateTimeFormat(LOCALE, parts).format(
    typeof instant === 'string' ? Date.parse(instant) : instant,
  );
}

/** Formats the time between two instants: "850 ms", "12 s", "3 min 20 s". */
export function formatDuration(from: Date, to: Date): string {
  const ms = to.getTime() - from.getTime();
  if (ms < 1000) return `${ms} ms`;
  const seconds = Math.round(ms / 1000);
  const rest = seconds % 60 === 0 ? '' : ` ${seconds % 60} s`;
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min${rest}`;
}

/** Formats a number with thousands separators: 12345 becomes "12,345". */
export function formatNumber(number: number): string {
  return new Intl.NumberFormat(LOCALE).format(number);
}

/** Formats a file size: 12_345_678 bytes become "12.3 MB". */
export function formatSize(bytes: number): string {
  return bytes < 1e6
    ? `${formatNumber(Math.ceil(bytes / 1e3))} kB`
    : `${formatNumber(Math.round(bytes / 1e5) / 10)} MB`;
}

export function formatCount(count: number, one: string, many = `${one}s`): string {
  return `${formatNumber(count)} ${count === 1 ? one : many}`;
}

/** Turns a field name into a label: "payment_date" becomes "Payment date". */
export function formatField(field: string): string {
  const words = field.replaceAll('_', ' ').replace(/\bid\b/g, 'ID');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Turns the name of a record kind in imports and exports into a label: "sales-documents" becomes "Sales documents". */
export function formatKind(kind: string): string {
  return formatField(kind.replaceAll('-', '_'));
}

/** Returns a customer's name, or the customer number if the name is empty. */
export function formatCustomer({ name, customer_number }: { name: string; customer_number: string }): string {
  return name || customer_number;
}

/** Joins the texts that are not empty: "F-0001 · 1 Mar 2026". */
export function joinTexts(...texts: (string | null | undefined | false)[]): string {
  return texts.filter(Boolean).join(' · ');
}

/** Turns a field's error message into a sentence: "must not be empty" becomes "Must not be empty." */
export function formatMessage(message: string): string {
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;
}

/** Formats the row counts of an import: "3 new, 1 changed, 0 unchanged, 2 rejected". */
export function countsText(counts: Record<string, number>): string {
  const of = (name: string) => formatNumber(counts[name] ?? 0);
  return `${of('created')} new, ${of('changed')} changed, ${of('unchanged')} unchanged, ${of('rejected')} rejected`;
}

/** Sentences for error codes, such as SQLSTATEs and Stripe's error codes. The first matching pattern applies. */
const TEXTS: [pattern: RegExp, text: string][] = [
  [/^40...$/, 'Other processes kept changing the same records.'],
  [/^23...$/, 'It violates a database constraint.'],
  [/^22...$|^UnstorableError$/, 'It contains a value that cannot be stored.'],
  [/^55P03$|^57014$/, 'The database took too long.'],
  [/^stripe_rate_limit/, 'Stripe’s rate limit was reached.'],
  [/^stripe_(connection|timeout)/, 'Stripe did not answer in time.'],
  [/^stripe_(authentication|permission)/, 'Stripe refused our API key.'],
  [/^(stripe_|invalid_answer$)/, 'Stripe answered with an error.'],
  [
    /^other_account$/,
    'Stripe knows none of the stored Stripe customers that it was asked for: the API key is for another account or mode.',
  ],
  [/^abandoned$/, 'The process ended, and the work was not resumed in time.'],
];

/** Returns a sentence that explains the error code of a failed event, run or check. */
export function failureText(code: string | null): string {
  const [, text] = TEXTS.find(([pattern]) => pattern.test(code ?? '')) ?? [];
  return text ?? 'Unexpected error; see the log.';
}
