-- What services and items add to the sums, by currency. Of one day, or of all. The conditions on the day leave out most
-- rows before the functions decide on the others.
CREATE OR REPLACE FUNCTION renewal_sums(one_day date) RETURNS SETOF sums
LANGUAGE plpgsql SET plan_cache_mode = force_custom_plan AS $$
BEGIN
  RETURN QUERY SELECT r.of, r.day, r.currency, sum(r.row_count)::bigint, sum(r.amount)::numeric(24,3) FROM (
    SELECT d.* FROM customer_services s, LATERAL sum_of_service(s) d
      WHERE s.status = 'active' AND s.next_billing_date IS NOT NULL
        AND (one_day IS NULL OR coalesce(s.next_billing_date, 'infinity') = one_day)
    UNION ALL SELECT d.* FROM subscriptions s JOIN subscription_items i ON i.subscription_id = s.id,
      LATERAL sum_of_item(i, s) d
      WHERE s.next_billing_date IS NOT NULL AND s.status IN ('trialing', 'active', 'past_due')
        AND (one_day IS NULL OR d.day = one_day AND (
          i.current_period_end IS NULL OR i.current_period_end BETWEEN one_day - 2 AND one_day + 3))
  ) r GROUP BY r.of, r.day, r.currency;
END $$;
