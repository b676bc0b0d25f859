import { Fragment } from 'react';
import type { LineTotals } from '@/lib/invoices/totals';
import { formatMoney } from '../../../../_components/format';
import classes from './lines.module.css';

/** Shows the totals of lines: the sum without tax, the tax by rate or in one sum, and the sum with tax. */
export function TotalList({
  totals: { subtotal, rates, total },
  currency,
}: {
  totals: Pick<LineTotals, 'subtotal' | 'total'> & { rates: { tax_rate: string | null; tax: string }[] };
  currency: string;
}) {
  const sums = [
    ['Without tax', subtotal],
    ...rates.map(({ tax_rate, tax }) => [tax_rate === null ? 'Tax' : `Tax ${Number(tax_rate)} %`, tax]),
  ];
  return (
    <dl className={classes.totals}>
      {sums.map(([label, amount]) => (
        <Fragment key={label}>
          <dt>{label}</dt>
          <dd>{formatMoney(Number(amount), currency)}</dd>
        </Fragment>
      ))}
      <dt className={classes.sum}>Total</dt>
      <dd className={classes.sum}>{formatMoney(Number(total), currency)}</dd>
    </dl>
  );
}
