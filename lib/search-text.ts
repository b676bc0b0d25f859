/** As `searchForm` of the schema writes it, but for upper case. */
export function composed(text: string): string {
  return text.normalize('NFC').replace(/[ßẞ]/g, 'ss');
}

/** An ILIKE pattern for texts that contain this one: `%`, `_` and `\` stand for themselves. */
export function containsPattern(text: string): string {
  return `%${escapeLike(text)}%`;
}

/** Whether a trigram index serves a search for any part of a text. */
export const hasTrigram = (text: string): boolean => /[\p{L}\p{N}]{3}/u.test(text);

/** Each two letters that follow one another in a text; of a text of one letter that one. */
export function letterPairs(text: string): string[] {
  const letters = [...text];
  return letters.length === 1 ? letters : letters.slice(1).map((letter, at) => `${letters[at]}${letter}`);
}

/** An ILIKE pattern for texts that start with this one. */
export function prefixPattern(text: string): string {
  return `${escapeLike(text)}%`;
}

/** An ILIKE pattern for this text, in any case. */
export function wholePattern(text: string): string {
  return escapeLike(text);
}

/**
 * ILIKE patterns that a trigram index serves: for any part of a text, where it has three letters or digits in
 * a row; for a shorter one, that a word starts with it. None where an index would not help.
 *
 * @param separators what may stand before a word in the texts that are searched
 */
export function indexedPatterns(text: string, separators: string[]): string[] {
  if (hasTrigram(text)) return [containsPattern(text)];
  if (!/^[\p{L}\p{N}]/u.test(text)) return [];
  return [prefixPattern(text), ...separators.map((separator) => `%${separator}${prefixPattern(text)}`)];
}

function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}
