import { asJsonb } from '../stored';

/** When a row was written is a matter of clocks. */
const CLOCKED = new Set(['created_at', 'updated_at']);
/** Their keys stand as decisions wrote them, which nobody reads again. */
const LOGGED = new Set(['changes', 'before', 'after']);

/** A value as text, alike for what means the same. */
export function toText(value: unknown): string {
  return JSON.stringify(canonical(value));
}

function canonical(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Set) return [...value].sort();
  if (value instanceof Map) return [...value.values()].map(canonical).sort(byText);
  if (Array.isArray(value)) return value.map((one) => (isRow(one) ? canonical(one) : one));
  if (!isRow(value)) return value;
  const entries = Object.entries(value).filter(([key]) => !CLOCKED.has(key));
  return Object.fromEntries(
    entries
      .map(
        ([key, one]) => [key, LOGGED.has(key) ? asJsonb(one) : isJson(key) ? one : canonical(one)] as const,
      )
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

/** In what order jsonb gives keys back is a part of what it gives back. */
const isJson = (key: string) => key === 'numbers' || key === 'details';
const isRow = (value: unknown): value is object => typeof value === 'object' && value !== null;
const byText = (a: unknown, b: unknown) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);

/** @returns the rows that differ; null: none do */
export function differenceOf(what: string, database: unknown[], model: unknown[]): string | null {
  const [theirs, ours] = [database, model].map((rows) => rows.map(toText).sort());
  if (!theirs || !ours || theirs.join('\n') === ours.join('\n')) return null;
  const lacking = theirs.filter((row) => !ours.includes(row));
  const added = ours.filter((row) => !theirs.includes(row));
  return `${what} differ\n database: ${lacking.join('\n  ')}\n model: ${added.join('\n  ')}`;
}
