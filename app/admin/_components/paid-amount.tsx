import { formatMoney } from '../../_components/format';
import { Money } from './money';
import classes from './paid-amount.module.css';

interface Props {
  amount: number;
  currency: string;
  /** What came back of it. */
  refunded: number;
}

/** An amount, and beneath it what came back, in the height of one line. */
export function PaidAmount({ amount, currency, refunded }: Props) {
  if (refunded === 0) return <Money amount={amount} currency={currency} />;
  return (
    <span className={classes.both}>
      <Money amount={amount} currency={currency} />
      <span className={classes.refunded}>{formatMoney(refunded, currency)} refunded</span>
    </span>
  );
}
