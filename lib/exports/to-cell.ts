/** A value as a cell: lists with spaces between, and nothing that import would not read as the same value. */
export function toCell(value: unknown, isAmount: boolean): string | number | null {
  if (value === null || value === undefined) return null;
  if (isAmount) return Number(value);
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.join(' ');
  return String(value);
}
