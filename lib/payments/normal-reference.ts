// Default_Ignorable_Code_Point holds what shows nothing: zero-width and bidirectional marks, soft hyphens, fillers.
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;

// Of any kind: no-break, thin, ideographic …
const SPACES = /\p{Z}+/gu;

/**
 * Normalizes a payment reference for storage and lookup, so that references that look alike are the same. Runs of spaces
 * become one, and spaces at the ends are removed.
 */
export function normalReference(text: string): string {
  return text.replace(INVISIBLE, '').normalize('NFC').replace(SPACES, ' ').trim();
}
