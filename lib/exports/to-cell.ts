/** A value as a cell: lists with spaces between, and nothing that import would not read as the same value. */
export function toCell(value: unknown, isAmount: boolean): string | number | null {
  if (value === null || value === undefined) return null;
  if (isAmount) return toNumber(Number(value));
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.join(' ');
  return String(value);
}

/** `1.234` may be read as 1,234, and an import refuses it: a fourth decimal makes it clear. */
function toNumber(value: number): string | number {
  return /^-?[1-9]\d{0,2}\.\d{3}$/.test(String(value)) ? value.toFixed(4) : value;
}
