/** The fields of a line, in the order in which they are typed. */
export const LINE_FIELDS = ['text', 'quantity', 'unit_price', 'tax_rate'] as const;
export type TypedLine = Record<(typeof LINE_FIELDS)[number], string>;

/** A number with nothing between its thousands: a comma before three digits could mean them. */
const NUMBER = /^-?\d{1,12}(\.\d{1,3}|,\d{1,2})?$/;

/**
 * What people typed as the values of a draft: of a date that is left empty none, of a number its value. What is no number
 * stays as it was typed, for the rules to refuse; lines of which nothing was typed say nothing.
 *
 * @param typed fields by their names, those of lines as `lines.0.text`
 */
export function toDraftValues(typed: Record<string, string>): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, text] of Object.entries(typed)) {
    if (name.startsWith('lines.')) continue;
    const trimmed = text.trim();
    if (name === 'currency') values[name] = trimmed.toLowerCase() || undefined;
    else if (CLEARED.includes(name)) values[name] = trimmed || null;
    else values[name] = trimmed || undefined;
  }
  const lines = typedLines(typed);
  if (lines.some(({ text, unit_price }) => text.trim() || unit_price.trim()))
    values.lines = lines.map(toValues);
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

/** The lines among typed fields, in their order. */
export function typedLines(typed: Record<string, string>): TypedLine[] {
  const lines: TypedLine[] = [];
  for (let i = 0; typed[`lines.${i}.text`] !== undefined; i += 1) {
    const field = (name: string) => typed[`lines.${i}.${name}`] ?? '';
    lines.push({
      text: field('text'),
      quantity: field('quantity'),
      unit_price: field('unit_price'),
      tax_rate: field('tax_rate'),
    });
  }
  return lines;
}

/** Lines as typed fields. */
export function toTypedLines(lines: TypedLine[]): Record<string, string> {
  return Object.fromEntries(
    lines.flatMap((line, i) => LINE_FIELDS.map((name) => [`lines.${i}.${name}`, line[name]])),
  );
}

/** A typed number as decimal text; null: it is none. */
export function toDecimal(text: string): string | null {
  const trimmed = text.trim();
  return NUMBER.test(trimmed) ? trimmed.replace(',', '.') : null;
}

const CLEARED = ['due_date', 'valid_until'];

function toValues({ text, ...numbers }: TypedLine) {
  const numberOf = (typed: string) => {
    const decimal = toDecimal(typed);
    return decimal === null ? typed : Number(decimal);
  };
  return {
    text: text.trim(),
    quantity: numberOf(numbers.quantity),
    unit_price: numberOf(numbers.unit_price),
    tax_rate: numberOf(numbers.tax_rate),
  };
}
