-- What an item adds to the sums: what it is billed for, on the day on which its subscription renews.
CREATE OR REPLACE FUNCTION sum_of_item(i subscription_items, s subscriptions) RETURNS SETOF sums LANGUAGE sql IMMUTABLE AS $$
  SELECT 'item_renewals', s.next_billing_date, i.currency, 1::bigint, i.amount::numeric(24,3)
  WHERE i.amount IS NOT NULL AND i.currency IS NOT NULL AND s.next_billing_date IS NOT NULL
    AND s.cancel_at IS NULL AND NOT s.cancel_at_period_end AND s.status IN ('trialing', 'active', 'past_due')
$$;
