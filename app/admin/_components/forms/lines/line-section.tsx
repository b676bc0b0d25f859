import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { formatDay, formatMoney } from '@/app/_components/format';
import { type LineRow, type StripeLineRow, stripeLineTotals } from '@/lib/invoices/lines';
import type { InvoiceDetails } from '@/lib/invoices/queries';
import { lineTotals } from '@/lib/invoices/totals';
import { hasCurrencyPrecision } from '@/lib/money';
import { type Column, RecordList } from '../../lists/record-list';
import { EmptyText, Section } from '../../page/staff-page';
import { TotalList } from './total-list';

/** Lists the lines of an invoice or a sales document. Shows nothing if the record has no lines. */
export function LineSection({ lines, currency }: { lines: LineRow[]; currency: string }) {
  if (lines.length === 0) return null;
  const totals = lineTotals(lines, currency);
  const rows = lines.map(({ text, quantity, unit_price, ...tax }, i) => ({
    text,
    quantity: String(Number(quantity)),
    price: priceText(unit_price, currency),
    tax: taxText(tax),
    net: totals.nets[i] ?? '0',
  }));
  return (
    <Section title="Lines">
      <LineList lines={rows} currency={currency} />
      <TotalList totals={totals} currency={currency} />
    </Section>
  );
}

interface StripeProps {
  invoice: InvoiceDetails;
  lines: StripeLineRow[];
  timeZone: string;
}

/** Lists the lines of a Stripe invoice. If they do not add up to the invoice's total, explains the difference. */
export function StripeLineSection({ invoice, lines, timeZone }: StripeProps) {
  const { currency, lines_complete } = invoice;
  if (lines.length === 0 && lines_complete && invoice.total === 0) return null;
  const money = (amount: string) => formatMoney(Number(amount), currency);
  const totals = stripeLineTotals(invoice, lines);
  const rows = lines.map((line) => ({
    text: line.description ?? 'No description',
    note: notesOf(line, money, timeZone).join(', '),
    quantity: line.quantity === null ? '' : String(Number(line.quantity)),
    price: priceOf(line, currency),
    tax: line.taxes.map((tax) => stripeTaxText(tax, money)).join(', '),
    net: line.net,
  }));
  return (
    <Section title="Lines">
      {rows.length > 0 && <LineList lines={rows} currency={currency} />}
      {rows.length > 0 && <TotalList totals={totals} currency={currency} />}
      {totals.gap && <EmptyText>{gapText(totals.gap, invoice, lines.length, money(totals.total))}</EmptyText>}
    </Section>
  );
}

/** Explains why the lines of an invoice do not add up to its total. */
function gapText(
  gap: NonNullable<ReturnType<typeof stripeLineTotals>['gap']>,
  { subtotal, tax, total, currency }: InvoiceDetails,
  count: number,
  sum: string,
): string {
  const money = (amount: number) => formatMoney(amount, currency);
  switch (gap) {
    case 'lines':
      return count === 0
        ? 'Stripe has not reported the lines yet. The nightly reconciliation fetches them.'
        : `Stripe has reported only the first ${count} lines. The nightly reconciliation fetches the others.`;
    case 'tax':
      return `Stripe reported ${money(tax)} tax for the whole invoice, but not for each line.`;
    case 'amount':
      return [
        `The lines add up to ${sum}, but the invoice total is ${money(total)} (${money(subtotal)} without tax).`,
        'Stripe did not assign the difference to a line. This happens with shipping or a discount on the whole invoice.',
      ].join(' ');
  }
}

/** Describes the period and the discount of a line, if it has them. */
function notesOf(
  { period_start, period_end, discount }: StripeLineRow,
  money: (amount: string) => string,
  timeZone: string,
): string[] {
  const day = (at: Date) => formatDay(at, timeZone);
  const isPeriod = period_start && period_end && period_start < period_end;
  return [
    ...(isPeriod ? [`${day(period_start)} to ${day(period_end)}`] : []),
    ...(Number(discount) === 0 ? [] : [`discount of ${money(discount)}`]),
  ];
}

/** Formats the price of one unit. Returns '' if the quantity is missing or 0, or the price exceeds six decimals. */
function priceOf({ amount, quantity }: StripeLineRow, currency: string): string {
  const price = Number(amount) / Number(quantity ?? 0);
  const isExact = Number.isFinite(price) && Math.abs(Number(price.toFixed(6)) - price) < 1e-9;
  return isExact ? priceText(price.toFixed(6), currency) : '';
}

/** Formats a tax that Stripe charged, such as “19 % VAT included”. Shows the amount if the rate is unknown. */
function stripeTaxText(
  { rate, type, reason, inclusive, amount }: StripeLineRow['taxes'][number],
  money: (amount: string) => string,
): string {
  const isUsual = reason === null || reason === 'standard_rated';
  return [
    rate === null ? money(amount) : `${Number(rate)} %`,
    type?.replaceAll('_', ' ').toUpperCase(),
    isUsual ? undefined : reason.replaceAll('_', ' '),
    inclusive ? 'included' : undefined,
  ]
    .filter(Boolean)
    .join(' ');
}

interface ShownLine {
  text: string;
  /** Remark below the line's text. */
  note?: string;
  quantity: string;
  price: string;
  tax: string;
  /** Amount without tax, as a decimal string in units of the currency. */
  net: string;
}

function LineList({ lines, currency }: { lines: ShownLine[]; currency: string }) {
  const rows = lines.map((line, i) => ({ ...line, id: i + 1 }));
  const money = (amount: string) => formatMoney(Number(amount), currency);
  const columns: Column<(typeof rows)[number]>[] = [
    { label: 'Text', cell: noted, wraps: true },
    { label: 'Quantity', width: '12%', align: 'right', cell: ({ quantity }) => quantity },
    { label: 'Price', width: '14%', align: 'right', cell: ({ price }) => price },
    { label: 'Tax', width: '10%', align: 'right', cell: ({ tax }) => tax },
    { label: 'Net', width: '14%', align: 'right', cell: ({ net }) => money(net) },
  ];
  return (
    <RecordList
      label="Lines"
      rows={rows}
      columns={columns}
      entryOf={({ text, note, quantity, price, tax, net }) => ({
        title: text,
        detail: [[quantity, price].filter(Boolean).join(' × '), tax && `${tax} tax`, note]
          .filter(Boolean)
          .join(', '),
        figure: money(net),
      })}
    />
  );
}

function noted({ text, note }: ShownLine): ReactNode {
  if (!note) return text;
  return (
    <>
      {text}
      <Text size="xs" c="dimmed">
        {note}
      </Text>
    </>
  );
}

/** Formats a tax rate, with the category if the line has one, such as “0 % AE”. */
const taxText = ({ tax_rate, tax_category }: Pick<LineRow, 'tax_rate' | 'tax_category'>) =>
  [`${Number(tax_rate)} %`, tax_category].filter(Boolean).join(' ');

/** Formats a price. A price with a fraction of the smallest coin, such as 0.005 euros, keeps all its decimals. */
function priceText(price: string, currency: string): string {
  const amount = Number(price);
  return hasCurrencyPrecision(Math.abs(amount), currency)
    ? formatMoney(amount, currency)
    : `${amount} ${currency.toUpperCase()}`;
}
