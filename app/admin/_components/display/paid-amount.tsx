import { formatMoney } from '@/app/_components/format';
import { Money } from './money';
import { TwoLines } from './two-lines';

interface Props {
  amount: number;
  currency: string;
  /** What came back of it. */
  refunded: number;
}

/** An amount, and beneath it what came back. */
export function PaidAmount({ amount, currency, refunded }: Props) {
  const money = <Money amount={amount} currency={currency} />;
  if (refunded === 0) return money;
  return <TwoLines below={`${formatMoney(refunded, currency)} refunded`}>{money}</TwoLines>;
}
