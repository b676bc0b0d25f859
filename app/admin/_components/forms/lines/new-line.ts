import { toTypedLines } from '@/lib/records/typed-lines';

/** What a line begins with; its tax follows the customer. */
export const NEW_LINE = { text: '', quantity: '1', unit_price: '', tax_rate: '' };

/** The fields of a form that begins with one line. @param taxRate in percent */
export const firstLine = (taxRate: number): Record<string, string> =>
  toTypedLines([{ ...NEW_LINE, tax_rate: String(taxRate) }]);
