import { formatDate, formatField, formatInstant, formatMoney } from '../../../_components/format';

type Image = Record<string, unknown> | null;

/** A field of an audited row as people read it; a dash for none. */
export function auditValue(image: Image, field: string, timeZone: string): string {
  const value = image?.[field];
  if (value === null || value === undefined || value === '') return '–';
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value.join(', ');
  if (typeof value !== 'string') return JSON.stringify(value);
  if (/amount$/.test(field)) return formatMoney(Number(value), String(image?.currency));
  if (/_date$/.test(field)) return formatDate(value);
  if (/_at$/.test(field)) return formatInstant(value, timeZone);
  return ['status', 'source', 'role'].includes(field) ? formatField(value) : value;
}
