// Default_Ignorable_Code_Point holds what shows nothing: zero-width and bidirectional marks, soft hyphens, fillers.
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;

// Of any kind: no-break, thin, ideographic …
const SPACES = /\p{Z}+/gu;

/**
 * A payment reference as it is stored and looked up: two that look alike, whatever wrote them, are one. Spaces count as
 * one, and not at all at the ends.
 */
export function normalReference(text: string): string {
  return text.replace(INVISIBLE, '').normalize('NFC').replace(SPACES, ' ').trim();
}
