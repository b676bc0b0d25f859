import { toTypedLines } from '@/lib/records/typed-lines';

/** What a line begins with. */
export const NEW_LINE = { text: '', quantity: '1', unit_price: '', tax_rate: '19' };

/** The fields of a form that begins with one line. */
export const firstLine = (): Record<string, string> => toTypedLines([NEW_LINE]);
