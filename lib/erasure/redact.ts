const ERASED = '[erased]';
/** Two letters are a part of too much else. */
const SHORTEST = 3;

/** Replaces values in texts, as whole words and in any case. Pure. */
export function toRedactor(values: string[]): (text: string) => string {
  // Of letters with marks, composed or not: imports and Stripe write either.
  const forms = values.flatMap((value) => [value, value.normalize('NFC'), value.normalize('NFD')]);
  const known = [...new Set(forms.map((value) => value.trim()))]
    .filter((value) => value.length >= SHORTEST)
    .sort((a, b) => b.length - a.length) // the whole name before a part of it
    .map((value) => value.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&').replaceAll(/\s+/g, '\\s+'));
  if (known.length === 0) return (text) => text;
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(?:${known.join('|')})(?![\\p{L}\\p{N}])`, 'giu');
  return (text) => text.replaceAll(pattern, ERASED);
}

/** The same in all texts of a JSON value; what stands under one of the emptied names is null. */
export function redactJson(
  value: unknown,
  redact: (text: string) => string,
  emptied: ReadonlySet<string> = new Set(),
): unknown {
  if (typeof value === 'string') return redact(value);
  if (Array.isArray(value)) return value.map((entry) => redactJson(entry, redact, emptied));
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, entry]) => [
      name,
      emptied.has(name) ? null : redactJson(entry, redact, emptied),
    ]),
  );
}
