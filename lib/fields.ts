import { z } from 'zod';
import { MAX_ID, pageFields, upTo } from './page';

// biome-ignore lint/suspicious/noControlCharactersInRegex: finds control characters on purpose
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/** Matches a visible character, that is, anything but separators, control characters and format characters. */
const VISIBLE = /[^\p{Z}\p{C}]/u;

/** Schema of the id of a row in our database. */
export const rowId = upTo(MAX_ID);

/** Schema of a calendar date, YYYY-MM-DD. Refuses the year 0, which PostgreSQL does not have. */
export const calendarDate = z.iso
  .date('must be a calendar date YYYY-MM-DD')
  .refine((date) => !date.startsWith('0000'), 'must be a calendar date YYYY-MM-DD');

/** Fields for the first and last day of a range, both inclusive. Refine them with `isInOrder` and `WRONG_ORDER`. */
export const dateRange = { from: calendarDate.optional(), to: calendarDate.optional() };
export const WRONG_ORDER = { path: ['to'], message: 'must not be before the first day' };

export function isInOrder({ from, to }: { from?: string | undefined; to?: string | undefined }): boolean {
  return !from || !to || from <= to;
}

/**
 * Returns the schema of a list tool's filters and page fields. In each named range, the first day must not be after the
 * last. Refuses `status` together with `statuses`.
 */
export function listFilters<Shape extends z.ZodRawShape>(shape: Shape, ...ranges: string[]) {
  type Given = Record<string, string | undefined>;
  const isBoth = ({ status, statuses }: Given) => status !== undefined && statuses !== undefined;
  const { page, per_page } = pageFields;
  const pages = { page: page.describe('Default 1.'), per_page: per_page.describe('Default 25.') };
  let filters = z.strictObject({ ...shape, ...pages }).refine((given) => !isBoth(given as Given), {
    path: ['statuses'],
    message: 'cannot be combined with status: leave one of them out',
  });
  for (const name of ranges) {
    filters = filters.refine(
      (given) => isInOrder({ from: (given as Given)[`${name}_from`], to: (given as Given)[`${name}_to`] }),
      { path: [`${name}_from`], message: `must not be after ${name}_to` },
    );
  }
  return filters;
}

/**
 * Returns the schema of one line of text without control characters. Counts characters as PostgreSQL does.
 *
 * @param normal normalizes the text before the checks
 */
export function textLine(max: number, normal: (text: string) => string = (text) => text) {
  return z
    .string('must be a string')
    .overwrite(normal)
    .min(1, 'must not be empty')
    .refine((text) => isAtMost(max, text), `must have at most ${max} characters`)
    .refine((text) => !CONTROL.test(text), 'must not contain control characters')
    .refine(
      (text) => text === '' || (text.isWellFormed() && VISIBLE.test(text)),
      'must contain readable characters',
    )
    .meta({ maxLength: max });
}

/** Returns the schema of a line of text to search for. Removes spaces at its ends, which copied texts often have. */
export const searchLine = (max: number) => textLine(max, (text) => text.trim());

/**
 * Returns whether a text has at most `max` characters. Text of more than `2 * max` UTF-16 units is always too long, so
 * its characters are not counted.
 */
function isAtMost(max: number, text: string): boolean {
  return text.length <= max || (text.length <= 2 * max && [...text].length <= max);
}

/** Returns the schema of a non-empty list of an enum's values. */
export const someOf = <const Values extends readonly [string, ...string[]]>(values: Values) =>
  z
    .array(oneOf(values), 'must be a list')
    .min(1, 'must contain at least one value')
    .max(values.length, 'must not repeat a value');

/** Returns the schema of an enum whose error message lists the values. */
export function oneOf<const Values extends readonly [string, ...string[]]>(values: Values) {
  return z.enum(values, `must be one of ${values.join(', ')}`);
}

/** The form of an IBAN without spaces and in capitals (ISO 13616). It does not verify the check digits. */
export const IBAN_FORM = /^[A-Z]{2}\d{2}[A-Z\d]{11,30}$/;
