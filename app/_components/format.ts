import { toCalendarDate } from '@/lib/dates';
import { currencyDecimals } from '@/lib/money';
import { unmistakable } from '@/lib/read-amount';

const LOCALE = 'en-GB';

/** 1234.5 EUR as "€1,234.50", with the decimals its currency has. */
export function formatMoney(amount: number, currency: string): string {
  const digits = currencyDecimals(currency);
  return formatCurrency(amount, currency, { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** 12345 EUR as "€12K", for the scale of a chart. */
export function formatShortMoney(amount: number, currency: string): string {
  const digits = { minimumFractionDigits: 0, maximumFractionDigits: 1 };
  return formatCurrency(amount, currency, { notation: 'compact', ...digits });
}

function formatCurrency(amount: number, currency: string, format: Intl.NumberFormatOptions): string {
  const code = currency.toUpperCase();
  return new Intl.NumberFormat(LOCALE, { style: 'currency', currency: code, ...format }).format(amount);
}

/** 1234.5 EUR as "1234.50", for a field. */
export function formatPlainAmount(amount: number, currency: string): string {
  return unmistakable(amount.toFixed(currencyDecimals(currency)));
}

/** A calendar date, "2026-03-01" as "1 Mar 2026". */
export function formatDate(date: string): string {
  return formatParts(`${date}T00:00:00Z`, { dateStyle: 'medium', timeZone: 'UTC' });
}

/** The month of a calendar date, "2026-03-01" as "March 2026". */
export function formatMonth(date: string): string {
  return formatParts(`${date}T00:00:00Z`, { month: 'long', year: 'numeric', timeZone: 'UTC' });
}

/** The calendar date of an instant in the service's time zone. */
export function formatDay(instant: Date, timeZone: string): string {
  return formatDate(toCalendarDate(instant, timeZone));
}

/** An instant in the service's time zone, "1 Mar 2026, 14:05 CET". */
export function formatInstant(instant: Date | string, timeZone: string): string {
  return formatParts(instant, { ...DAY, ...MINUTE, timeZone });
}

/** The time of day of an instant, "14:05 CET". */
export function formatTime(instant: Date, timeZone: string): string {
  return formatParts(instant, { ...MINUTE, timeZone });
}

/** An instant in the service's time zone to the second, "1 Mar 2026, 14:05:33 CET". */
export function formatSecond(instant: Date | string, timeZone: string): string {
  return formatParts(instant, { ...DAY, ...MINUTE, second: '2-digit', timeZone });
}

/** When the daily run begins, "03:40 (Europe/Berlin)". @param timeZone null: the one of the machine */
export function formatDailyRun(timeZone: string | null): string {
  return `03:40 (${timeZone ?? 'time of the server'})`;
}

// Each part by itself: Intl refuses the name of the zone beside its ready-made styles.
const DAY = { day: 'numeric', month: 'short', year: 'numeric' } as const;
const MINUTE = { hour: '2-digit', minute: '2-digit', timeZoneName: 'short' } as const;

function formatParts(instant: Date | string, parts: Intl.DateTimeFormatOptions): string {
  return new Intl.DateTimeFormat(LOCALE, parts).format(
    typeof instant === 'string' ? Date.parse(instant) : instant,
  );
}

/** How long something took: "850 ms", "12 s", "3 min 20 s". */
export function formatDuration(from: Date, to: Date): string {
  const ms = to.getTime() - from.getTime();
  if (ms < 1000) return `${ms} ms`;
  const seconds = Math.round(ms / 1000);
  const rest = seconds % 60 === 0 ? '' : ` ${seconds % 60} s`;
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min${rest}`;
}

/** 12345 as "12,345". */
export function formatNumber(number: number): string {
  return new Intl.NumberFormat(LOCALE).format(number);
}

/** A size of a file, 12_345_678 as "12.3 MB". */
export function formatSize(bytes: number): string {
  return bytes < 1e6
    ? `${formatNumber(Math.ceil(bytes / 1e3))} kB`
    : `${formatNumber(Math.round(bytes / 1e5) / 10)} MB`;
}

export function formatCount(count: number, one: string, many = `${one}s`): string {
  return `${formatNumber(count)} ${count === 1 ? one : many}`;
}

/** "payment_date" as "Payment date". */
export function formatField(field: string): string {
  const words = field.replaceAll('_', ' ').replace(/\bid\b/g, 'ID');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A kind of records as commands call it, "sales-documents" as "Sales documents". */
export function formatKind(kind: string): string {
  return formatField(kind.replaceAll('-', '_'));
}

/** A message of a field, "must not be empty" as "Must not be empty." */
export function formatMessage(message: string): string {
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;
}

/** What became of the rows of a file, as its import noted it. */
export function countsText(counts: Record<string, number>): string {
  const of = (name: string) => formatNumber(counts[name] ?? 0);
  return `${of('created')} new, ${of('changed')} changed, ${of('unchanged')} unchanged, ${of('rejected')} rejected`;
}
