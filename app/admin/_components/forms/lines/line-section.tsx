import { formatMoney } from '@/app/_components/format';
import type { LineRow } from '@/lib/invoices/lines';
import { lineTotals } from '@/lib/invoices/totals';
import { type Column, RecordList } from '../../lists/record-list';
import { Section } from '../../page/staff-page';
import { TotalList } from './total-list';

/** Lists the lines of an invoice or a sales document. Shows nothing if the record has no lines. */
export function LineSection({ lines, currency }: { lines: LineRow[]; currency: string }) {
  if (lines.length === 0) return null;
  const totals = lineTotals(lines, currency);
  const rows = lines.map((line, i) => ({ ...line, id: i + 1, net: totals.nets[i] ?? '0' }));
  const money = (amount: string) => formatMoney(Number(amount), currency);
  const columns: Column<(typeof rows)[number]>[] = [
    { label: 'Text', cell: ({ text }) => text, wraps: true },
    { label: 'Quantity', width: '12%', align: 'right', cell: ({ quantity }) => Number(quantity) },
    {
      label: 'Price',
      width: '14%',
      align: 'right',
      cell: ({ unit_price }) => priceText(unit_price, currency),
    },
    { label: 'Tax', width: '10%', align: 'right', cell: taxText },
    { label: 'Net', width: '14%', align: 'right', cell: ({ net }) => money(net) },
  ];
  return (
    <Section title="Lines">
      <RecordList
        label="Lines"
        rows={rows}
        columns={columns}
        entryOf={({ text, quantity, unit_price, net, ...tax }) => ({
          title: text,
          detail: `${Number(quantity)} × ${priceText(unit_price, currency)}, ${taxText(tax)} tax`,
          figure: money(net),
        })}
      />
      <TotalList totals={totals} currency={currency} />
    </Section>
  );
}

/** Formats a tax rate with the category if the line has one: 0 % AE. */
const taxText = ({ tax_rate, tax_category }: Pick<LineRow, 'tax_rate' | 'tax_category'>) =>
  [`${Number(tax_rate)} %`, tax_category].filter(Boolean).join(' ');

/** Formats a price. A price that has a fraction of a cent, such as 0.005, keeps all its decimals. */
function priceText(price: string, currency: string): string {
  const text = formatMoney(Number(price), currency);
  const isExact = Number(price) === Number(Number(price).toFixed(2));
  return isExact ? text : `${Number(price)} ${currency.toUpperCase()}`;
}
