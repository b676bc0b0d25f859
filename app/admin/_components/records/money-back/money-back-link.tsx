import type { MoneyBackRow } from '@/lib/payments/money-back';
import { StripeLink } from '../../display/stripe-link';

interface Props {
  row: MoneyBackRow;
  children: string;
}

/** To a dispute at Stripe, or to the payment that was refunded there; nothing for what Stripe does not know. */
export function MoneyBackLink({ row, children }: Props) {
  const { kind, stripe_id, stripe_payment } = row;
  if (stripe_id === null) return null;
  const path = kind === 'dispute' ? `disputes/${stripe_id}` : stripe_payment && `payments/${stripe_payment}`;
  if (!path) return children;
  return (
    <StripeLink path={path} label={`Stripe: ${kind} ${stripe_id}`}>
      {children}
    </StripeLink>
  );
}
