import { fromThousandths, toThousandths } from '../../money';

/** WHMCS writes days that are not known as zeros, and others with a time. */
export const day = (cell: string) =>
  cell.startsWith('0000-00-00') || cell.startsWith('00.00.0000') ? '' : cell.slice(0, 10);

/** An amount without its currency: `€9.90 EUR`. */
export const amount = (cell: string) => cell.replace(/^[^\d-]+|[^\d]+$/g, '');

/** What amounts come to; where one is none, that one, to be refused as it is. */
export function sumOf(...cells: string[]): string {
  const amounts = cells.map(amount).filter((cell) => cell !== '');
  const wrong = amounts.find((cell) => Number.isNaN(Number(cell)));
  return wrong ?? fromThousandths(amounts.reduce((sum, cell) => sum + toThousandths(cell), 0));
}

/** Whether there is an amount, and more than nothing. */
export const isMore = (cell: string) => Number(amount(cell)) > 0;

/** Its own number of something, as we call it: numbers of invoices and payments are counted apart there. */
export const keyOf = (id: string) => (Number(id) === 0 ? '' : `whmcs-${id.trim()}`);

export const oneOf =
  (values: Record<string, string>) =>
  (cell: string): string =>
    values[cell.trim().toLowerCase()] ?? cell;
