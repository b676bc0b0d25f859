import type { billingInterval } from '@/db/schema';
import { toMinorUnits } from '../../../money';
import type { ProviderBilled } from '../../../stripe/provider';

/** An item that we sold and that has no id at Stripe yet, and its service. */
export interface SoldItem {
  id: number;
  quantity: number;
  serviceId: number | null;
  service: {
    id: number;
    number: string;
    price: string;
    currency: string;
    interval: (typeof billingInterval.enumValues)[number];
    isEnded: boolean;
  } | null;
}

export type SoldWithService = SoldItem & { service: NonNullable<SoldItem['service']> };

const hasService = (item: SoldItem): item is SoldWithService => item.service?.isEnded === false;

export interface BilledItem extends ProviderBilled {
  stripeItemId: string | null;
  namedServiceId: string | null;
  namedServiceNumber: string | null;
}

export type Mismatch = 'nothing_sold' | 'nothing_billed' | 'price_unknown' | 'price_differs';

/** One to one by Stripe's item id: same money before tax, same interval, same service if Stripe names one. */
export function matchSold(
  all: SoldItem[],
  billed: BilledItem[],
): Map<string | null, SoldWithService> | Mismatch {
  const sold = all.filter(hasService);
  if (sold.length === 0 || sold.length < all.length) return 'nothing_sold';
  if (billed.length === 0) return 'nothing_billed';
  if (billed.some(({ amount }) => amount === null)) return 'price_unknown';
  if (billed.length !== sold.length) return 'price_differs';
  const pairs = new Map<string | null, SoldWithService>();
  const left = [...sold];
  // Those that name their service have no choice.
  const isNamed = ({ namedServiceId, namedServiceNumber }: BilledItem) =>
    Number(namedServiceId !== null || namedServiceNumber !== null);
  for (const item of [...billed].sort((a, b) => isNamed(b) - isNamed(a))) {
    const at = left.findIndex((one) => isOf(item, one) && isSameMoney(item, one));
    const [found] = at === -1 ? [] : left.splice(at, 1);
    if (!found) return 'price_differs';
    pairs.set(item.stripeItemId, found);
  }
  return pairs;
}

function isOf(
  { namedServiceId: id, namedServiceNumber: number }: BilledItem,
  { service }: SoldWithService,
): boolean {
  if (id !== null) return id === String(service.id);
  return number === null || number === service.number;
}

const MONTHS = { month: 1, quarter: 3, half_year: 6, year: 12, two_years: 24, three_years: 36, once: null };
const STRIPE_MONTHS = new Map<string | null, number>([
  ['month', 1],
  ['year', 12],
]);

function isSameMoney(billed: BilledItem, { service, quantity }: SoldWithService): boolean {
  if (billed.amount === null || billed.currency !== service.currency) return false;
  const months = Number(STRIPE_MONTHS.get(billed.interval)) * Number(billed.intervalCount);
  const minor = toMinorUnits(service.price, service.currency) * quantity;
  return months === MONTHS[service.interval] && toMinorUnits(billed.amount, service.currency) === minor;
}
