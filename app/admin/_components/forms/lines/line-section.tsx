import { formatMoney } from '@/app/_components/format';
import type { LineRow } from '@/lib/invoices/lines';
import { lineTotals } from '@/lib/invoices/totals';
import { type Column, RecordList } from '../../lists/record-list';
import { Section } from '../../page/section';
import { TotalList } from './total-list';

interface Props {
  lines: LineRow[];
  currency: string;
}

/** What an invoice or a sales document is over; nothing where its sums are all there is. */
export function LineSection({ lines, currency }: Props) {
  if (lines.length === 0) return null;
  const totals = lineTotals(lines, currency);
  const rows = lines.map((line, i) => ({ ...line, position: i + 1, net: totals.nets[i] ?? '0' }));
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
    { label: 'Tax', width: '10%', align: 'right', cell: ({ tax_rate }) => `${Number(tax_rate)} %` },
    { label: 'Net', width: '14%', align: 'right', cell: ({ net }) => money(net) },
  ];
  return (
    <Section title="Lines">
      <RecordList
        label="Lines"
        rows={rows}
        keyOf={({ position }) => position}
        columns={columns}
        entryOf={({ text, quantity, unit_price, tax_rate, net }) => ({
          title: text,
          detail: `${Number(quantity)} × ${priceText(unit_price, currency)}, ${Number(tax_rate)} % tax`,
          figure: money(net),
        })}
      />
      <TotalList totals={totals} currency={currency} />
    </Section>
  );
}

/** A price may have more decimals than its currency: those of a tenth of a cent are shown. */
function priceText(price: string, currency: string): string {
  const text = formatMoney(Number(price), currency);
  const isExact = Number(price) === Number(Number(price).toFixed(2));
  return isExact ? text : `${Number(price)} ${currency.toUpperCase()}`;
}
