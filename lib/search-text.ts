/** Normalizes a text like `searchForm` in the database schema, but keeps upper case. */
export function composed(text: string): string {
  return text.normalize('NFC').replace(/[ßẞ]/g, 'ss');
}

/** Returns an ILIKE pattern for texts that contain `text`. Escapes `%`, `_` and `\`. */
export function containsPattern(text: string): string {
  return `%${wholePattern(text)}%`;
}

/** Returns true if a text has three letters or digits in a row, so that a trigram index can find texts with it. */
export const hasTrigram = (text: string): boolean => /[\p{L}\p{N}]{3}/u.test(text);

/** Returns whether two texts differ by one missing, added or replaced character, or by two swapped neighbours. */
export function isOneEditAway(a: string, b: string): boolean {
  if (a === b || Math.abs(a.length - b.length) > 1) return false;
  let start = 0;
  while (start < a.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const [left, right] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  if (left.length <= 1 && right.length <= 1) return true;
  return left.length === 2 && right.length === 2 && left[0] === right[1] && left[1] === right[0];
}

/** Returns all pairs of adjacent letters in a text. For a single letter, returns that letter. */
export function letterPairs(text: string): string[] {
  const letters = [...text];
  return letters.length === 1 ? letters : letters.slice(1).map((letter, at) => `${letters[at]}${letter}`);
}

/** Returns an ILIKE pattern for texts that start with `text`. */
export function prefixPattern(text: string): string {
  return `${wholePattern(text)}%`;
}

/** Returns an ILIKE pattern for texts that equal `text` apart from case. */
export function wholePattern(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}

/**
 * Returns ILIKE patterns for which PostgreSQL can use a trigram index. With three letters or digits in a row, `text`
 * matches anywhere, otherwise only at the start of a word. Returns no patterns if an index would not help.
 *
 * @param separators the texts that separate words in the searched column
 */
export function indexedPatterns(text: string, separators: string[]): string[] {
  if (hasTrigram(text)) return [containsPattern(text)];
  if (!/^[\p{L}\p{N}]/u.test(text)) return [];
  return [prefixPattern(text), ...separators.map((separator) => `%${separator}${prefixPattern(text)}`)];
}
