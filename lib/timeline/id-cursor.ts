import { MAX_ID } from '../page';

/** True for the text of an id that a row may have. */
export function isIdCursor(text: string): boolean {
  return /^\d{1,10}$/.test(text) && Number(text) <= MAX_ID;
}
