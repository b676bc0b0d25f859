import type { LineRow } from '@/lib/invoices/line-fields';
import { toTypedLines } from '@/lib/invoices/typed-draft';
import { formatPlainAmount } from '../../../_components/format';

const FIRST = { text: '', quantity: '1', unit_price: '', tax_rate: '19' };

/** Lines as the fields of a form; one to begin with where there are none. */
export function toLineFields(lines: LineRow[], currency: string): Record<string, string> {
  if (lines.length === 0) return toTypedLines([FIRST]);
  return toTypedLines(
    lines.map(({ text, quantity, unit_price, tax_rate }) => ({
      text,
      quantity: String(Number(quantity)),
      unit_price: priceText(unit_price, currency),
      tax_rate: String(Number(tax_rate)),
    })),
  );
}

/** With the decimals of its currency, or all that it has. */
function priceText(price: string, currency: string): string {
  const text = formatPlainAmount(Number(price), currency);
  return Number(text) === Number(price) ? text : String(Number(price));
}
