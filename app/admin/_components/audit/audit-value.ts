import { z } from 'zod';
import { formatDate, formatField, formatInstant, formatMoney } from '@/app/_components/format';

type Image = Record<string, unknown> | null;

/** A field of an audited row as people read it; a dash for none. */
export function auditValue(image: Image, field: string, timeZone: string): string {
  const value = image?.[field];
  if (value === null || value === undefined || value === '') return '–';
  if (field === 'lines') return linesText(value, String(image?.currency));
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value.join(', ');
  if (typeof value !== 'string') return JSON.stringify(value);
  if (AMOUNTS.test(field)) return formatMoney(Number(value), String(image?.currency));
  if (/_date$/.test(field)) return formatDate(value);
  if (/_at$/.test(field)) return formatInstant(value, timeZone);
  return ['status', 'source', 'role'].includes(field) ? formatField(value) : value;
}

const AMOUNTS = /amount$|^amount_|^(price|subtotal|tax|total)$/;

/** Lines of an invoice or a sales document, each in a few words. */
function linesText(value: unknown, currency: string): string {
  const { data: lines } = auditedLines.safeParse(value);
  if (!lines) return JSON.stringify(value);
  if (lines.length === 0) return '–';
  return lines
    .map(
      ({ text, quantity, unit_price, tax_rate }) =>
        `${Number(quantity)} × ${text} at ${formatMoney(Number(unit_price), currency)}, ${Number(tax_rate)} % tax`,
    )
    .join('; ');
}

const number = z.union([z.string(), z.number()]);
const auditedLines = z.array(
  z.object({ text: z.string(), quantity: number, unit_price: number, tax_rate: number }),
);
