// Default_Ignorable_Code_Point holds what shows nothing: zero-width and bidirectional marks, soft hyphens, fillers.
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;

/** A payment reference as it is stored and looked up: two that look alike, whatever wrote them, are one. */
export function normalReference(text: string): string {
  return text.replace(INVISIBLE, '').normalize('NFC');
}
