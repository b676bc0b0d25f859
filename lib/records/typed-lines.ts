/** The fields of a line in the order in which they are typed, and how each is read. */
export const LINE_FIELDS = {
  text: 'text',
  quantity: 'number',
  unit_price: 'amount',
  tax_rate: 'number',
} as const;

export type LineField = keyof typeof LINE_FIELDS;
/** A typed line of an invoice or a sales document. */
export type TypedLine = Record<LineField, string>;

const NAME = new RegExp(`^lines\\.\\d+\\.(${Object.keys(LINE_FIELDS).join('|')})$`);

/** Whether a field of a form belongs to a line: `lines.0.text` does. */
export const isLineField = (name: string): boolean => NAME.test(name);

/** The lines among typed fields, in their order. */
export function typedLines(typed: Record<string, string>): TypedLine[] {
  const lines: TypedLine[] = [];
  for (let i = 0; typed[`lines.${i}.text`] !== undefined; i += 1) {
    lines.push(ofEach((name) => typed[`lines.${i}.${name}`] ?? ''));
  }
  return lines;
}

/** Lines as typed fields. */
export function toTypedLines(lines: TypedLine[]): Record<string, string> {
  return Object.fromEntries(
    lines.flatMap((line, i) => Object.entries(line).map(([name, text]) => [`lines.${i}.${name}`, text])),
  );
}

/** What a new line begins with; its tax rate follows the customer. */
export const NEW_LINE: TypedLine = { text: '', quantity: '1', unit_price: '', tax_rate: '' };

/** The fields of a form that begins with one line. @param taxRate in percent */
export const firstLine = (taxRate: number): Record<string, string> =>
  toTypedLines([{ ...NEW_LINE, tax_rate: String(taxRate) }]);

/** One value of each field of a line. */
export function ofEach<Value>(valueFor: (name: LineField) => Value): Record<LineField, Value> {
  return {
    text: valueFor('text'),
    quantity: valueFor('quantity'),
    unit_price: valueFor('unit_price'),
    tax_rate: valueFor('tax_rate'),
  };
}

/** The lines among typed fields as people read them. */
export function linesText(typed: Record<string, string>): string {
  return typedLines(typed)
    .map(
      ({ text, quantity, unit_price, tax_rate }) =>
        `${quantity} × ${text} at ${unit_price}, ${tax_rate} % tax`,
    )
    .join('; ');
}
