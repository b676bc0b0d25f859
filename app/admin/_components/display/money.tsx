import { formatMoney } from '@/app/_components/format';

/** An amount in its currency's form. */
export function Money({ amount, currency }: { amount: number; currency: string }) {
  return <span className="figures">{formatMoney(amount, currency)}</span>;
}
