import type { LineTotals } from '@/lib/invoices/line-totals';
import { formatMoney } from '../../../../_components/format';
import { Facts } from '../../display/facts';

interface Props {
  totals: LineTotals;
  currency: string;
}

/** What lines come to: without tax, the tax of each rate, and all. */
export function TotalList({ totals, currency }: Props) {
  const money = (amount: string) => <span className="figures">{formatMoney(Number(amount), currency)}</span>;
  const taxes = totals.rates.map(({ tax_rate, tax }) => [`Tax ${Number(tax_rate)} %`, money(tax)]);
  return (
    <Facts
      facts={{
        'Without tax': money(totals.subtotal),
        ...Object.fromEntries(taxes),
        Total: <strong>{money(totals.total)}</strong>,
      }}
    />
  );
}
