import { Fragment } from 'react';
import { formatMoney } from '@/app/_components/format';
import type { LineTotals } from '@/lib/invoices/totals';
import classes from './lines.module.css';

interface Props {
  totals: LineTotals;
  currency: string;
}

/** What lines come to: without tax, the tax of each rate, and all. */
export function TotalList({ totals: { subtotal, rates, total }, currency }: Props) {
  const sums = [
    ['Without tax', subtotal],
    ...rates.map(({ tax_rate, tax }) => [`Tax ${Number(tax_rate)} %`, tax]),
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
