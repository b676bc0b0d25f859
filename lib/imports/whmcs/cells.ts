import { toThousandths } from '../../money';
import type { DecimalSeparator } from '../../read-amount';
import type { Translated } from '../file-format';
import { type CellValue, readCell } from '../read-cell';

/** A date without its time; '' for a date of zeros. */
export const day = (cell: string) => (/^0000-00-00|^00\.00\.0000/.test(cell) ? '' : cell.slice(0, 10));

/** The sum of some amounts. Empty ones count as 0. If one cannot be read, its problem is the result. */
export function sumOf(cells: string[], separator: DecimalSeparator | undefined): CellValue {
  let thousandths = 0;
  let currencies: readonly string[] | null = null;
  for (const cell of cells) {
    if (cell.trim() === '') continue;
    const read = readCell(cell, 'amount', separator);
    if ('problem' in read) return read;
    thousandths += toThousandths(String(read.value));
    const own = read.currencies;
    if (own) currencies = currencies ? currencies.filter((code) => own.includes(code)) : own;
    if (currencies?.length === 0)
      return { problem: `has amounts in several currencies: ${cells.join(', ')}` };
  }
  return { value: thousandths / 1000, currencies };
}

/** Whether a cell has an amount that is more than 0. */
export function isMore(cell: string, separator: DecimalSeparator | undefined): boolean {
  const read = sumOf([cell], separator);
  return 'value' in read && Number(read.value) > 0;
}

/** Our key of something that WHMCS numbers: it numbers invoices and payments apart. */
export const keyOf = (id: string) => (Number(id) === 0 ? '' : `whmcs-${id.trim()}`);

export const oneOf =
  (values: Record<string, string>) =>
  (cell: string): string =>
    values[cell.trim().toLowerCase()] ?? cell;

/** A currency's code. Old reports have a number in its place, which means something to that WHMCS alone. */
export function currency(cell: string): Translated {
  const code = cell.trim().toLowerCase();
  if (!/^\d+$/.test(code)) return code;
  const advice = 'leave the column out with --map Currency= and name the currency with --set currency=usd';
  return { problem: `is ${code}, the number of a currency in WHMCS: ${advice}` };
}

const ENTITIES: Record<string, string> = { amp: '&', quot: '"', lt: '<', gt: '>', '#039': "'", '#39': "'" };

/** WHMCS stores texts with the entities of HTML, and reports them so. */
export const decode = (cell: string): string =>
  cell.replace(/&(amp|quot|lt|gt|#0?39);/g, (entity, name: string) => ENTITIES[name] ?? entity);

/** How all reports of WHMCS write texts. */
export const texts = { decode, doublesAllQuotes: true };
