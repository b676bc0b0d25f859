// What csv-stringify puts an apostrophe before: a text that looks so already gets another one, which import takes off.
const LOOKS_ESCAPED = /^'+[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/;

/** A value as a cell: lists with spaces between, and nothing that import would not read as the same value. */
export function toCell(value: unknown, isAmount: boolean): string | number | null {
  if (value === null || value === undefined) return null;
  if (isAmount) return Number(value);
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.join(' ');
  const text = String(value);
  return LOOKS_ESCAPED.test(text) ? `'${text}` : text;
}
