import type { Typed } from './typed-fields';

export interface Merged {
  /** What the form goes on with: what was typed, and elsewhere what is stored. */
  typed: Typed;
  /** The fields that somebody else has changed: as stored now, and as typed here, null where nothing was. */
  theirs: { field: string; stored: string; typed: string | null }[];
}

/**
 * Brings together what two people made of one record.
 *
 * @param opened the record as this form was opened with it
 * @param typed the form as it was sent
 * @param stored the record as somebody else has left it
 */
export function mergeTyped(opened: Typed, typed: Typed, stored: Typed): Merged {
  const merged: Merged = { typed: { ...typed }, theirs: [] };
  for (const [field, now] of Object.entries(stored)) {
    const wanted = lineBreaks(typed[field] ?? '');
    const before = lineBreaks(opened[field] ?? '');
    if (now === before || now === wanted) continue;
    const isTyped = wanted !== before;
    if (!isTyped) merged.typed[field] = now;
    merged.theirs.push({ field, stored: now, typed: isTyped ? wanted : null });
  }
  return merged;
}

/** A browser sends the lines of a field with CRLF. */
const lineBreaks = (text: string) => text.replaceAll('\r\n', '\n');
