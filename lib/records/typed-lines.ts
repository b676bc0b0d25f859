/** Fields of a line in the order of the form, each with the type that determines how it is parsed. */
export const LINE_FIELDS = {
  text: 'text',
  quantity: 'number',
  unit_price: 'amount',
  tax_rate: 'number',
  tax_category: 'choice',
} as const;

export type LineField = keyof typeof LINE_FIELDS;
/** Typed texts of a line of an invoice or a sales document. */
export type TypedLine = Record<LineField, string>;

const NAME = new RegExp(`^lines\\.\\d+\\.(${Object.keys(LINE_FIELDS).join('|')})$`);

/** Returns true if a form field belongs to a line, such as `lines.0.text`. */
export const isLineField = (name: string): boolean => NAME.test(name);

/**
 * Maximum number of lines to read. It is one more than an invoice may have, so that a form with too many lines is
 * refused and not silently truncated.
 */
const MOST_TYPED = 501;

/**
 * Collects the lines from the typed fields of a form, in order. Missing fields become empty texts. A gap between lines
 * becomes an empty line, so that later lines keep their numbers and validation refuses the gap by its number.
 */
export function typedLines(typed: Record<string, string>): TypedLine[] {
  const indexes = Object.keys(typed)
    .filter(isLineField)
    .map((name) => Number(name.split('.')[1]));
  const length = indexes.reduce((most, index) => Math.max(most, index + 1), 0);
  return Array.from({ length: Math.min(length, MOST_TYPED) }, (_, i) =>
    ofEach((name) => typed[`lines.${i}.${name}`] ?? ''),
  );
}

/** Converts lines to the typed fields of a form. */
export function toTypedLines(lines: TypedLine[]): Record<string, string> {
  return Object.fromEntries(
    lines.flatMap((line, i) => Object.entries(line).map(([name, text]) => [`lines.${i}.${name}`, text])),
  );
}

/** Initial texts of a new line, without its tax rate. */
export const NEW_LINE: TypedLine = { ...ofEach(() => ''), quantity: '1' };

/** Returns the typed fields of a form with one new line. @param taxRate tax rate in percent */
export const firstLine = (taxRate: number): Record<string, string> =>
  toTypedLines([{ ...NEW_LINE, tax_rate: String(taxRate) }]);

/** Builds an object with a value for each field of a line. */
export function ofEach<Value>(valueFor: (name: LineField) => Value): Record<LineField, Value> {
  const values = Object.keys(LINE_FIELDS).map((name) => [name, valueFor(name as LineField)]);
  return Object.fromEntries(values) as Record<LineField, Value>;
}

/** Formats the lines of a form as text that a person can read. */
export function linesText(typed: Record<string, string>): string {
  return typedLines(typed)
    .map(
      ({ text, quantity, unit_price, tax_rate, tax_category }) =>
        `${quantity} × ${text} at ${unit_price}, ${tax_rate} % tax${tax_category && ` (${tax_category})`}`,
    )
    .join('; ');
}
