-- What an item adds to the sums: what it is billed for, on the day on which it renews.
CREATE OR REPLACE FUNCTION sum_of_item(i subscription_items, s subscriptions) RETURNS SETOF sums LANGUAGE sql IMMUTABLE AS $$
  SELECT 'item_renewals', renewal.day, i.currency, 1::bigint, i.amount::numeric(24,3)
  FROM (SELECT item_renewal_day(i, s) AS day) renewal
  WHERE i.amount IS NOT NULL AND i.currency IS NOT NULL AND renewal.day IS NOT NULL
$$;
