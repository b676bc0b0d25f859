import { toJsonAmount } from '@/lib/money';
import type { SubscriptionItem } from '@/lib/subscriptions/queries';
import { formatMoney } from '../../_components/format';

type Billed = Pick<SubscriptionItem, 'amount' | 'currency' | 'interval' | 'interval_count'>;

/** "€29.00 / month"; null where an item's price does not tell its amount, or items are billed differently. */
export function billedText(items: Billed[]): string | null {
  const [first] = items;
  if (!first?.currency) return null;
  const { currency, interval, interval_count } = first;
  const isAlike = (item: Billed) =>
    item.amount !== null &&
    item.currency === currency &&
    item.interval === interval &&
    item.interval_count === interval_count;
  if (!items.every(isAlike)) return null;
  const sum = items.reduce((total, { amount }) => total + toJsonAmount(amount ?? '0'), 0);
  const every = (interval_count ?? 1) > 1 ? `${interval_count} ${interval}s` : interval;
  return [formatMoney(sum, currency), every].filter(Boolean).join(' / ');
}
