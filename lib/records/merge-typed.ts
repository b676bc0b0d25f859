import type { Typed } from './typed-fields';
import { isLineField, linesText } from './typed-lines';

export interface Merged {
  /** What the form goes on with: what was typed, and elsewhere what is stored. */
  typed: Typed;
  /** The fields that another person has changed: as stored now, and as typed here (null if not typed). */
  theirs: { field: string; stored: string; typed: string | null }[];
}

/**
 * Merges the changes of two people to one record. Lines are one field, so that lines of two people are not mixed.
 *
 * @param opened the record as this form was opened with it
 * @param typed the form as it was sent
 * @param stored the record as the other person saved it
 */
export function mergeTyped(opened: Typed, typed: Typed, stored: Typed): Merged {
  const merged: Merged = { typed: { ...typed }, theirs: [] };
  for (const field of new Set(Object.keys(stored).map(fieldOf))) {
    const now = textOf(field, stored);
    const wanted = textOf(field, typed);
    const before = textOf(field, opened);
    if (now === before || now === wanted) continue;
    const isTyped = wanted !== before;
    if (!isTyped) merged.typed = { ...without(field, merged.typed), ...only(field, stored) };
    merged.theirs.push({ field, stored: now, typed: isTyped ? wanted : null });
  }
  return merged;
}

const fieldOf = (name: string) => (isLineField(name) ? 'lines' : name);

const only = (field: string, typed: Typed) => filter(typed, (name) => fieldOf(name) === field);
const without = (field: string, typed: Typed) => filter(typed, (name) => fieldOf(name) !== field);
const filter = (typed: Typed, isIn: (name: string) => boolean): Typed =>
  Object.fromEntries(Object.entries(typed).filter(([name]) => isIn(name)));

/** A browser sends the lines of a field with CRLF. */
function textOf(field: string, typed: Typed): string {
  return field === 'lines' ? linesText(typed) : (typed[field] ?? '').replaceAll('\r\n', '\n');
}
