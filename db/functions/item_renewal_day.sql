-- The day on which an item is billed again; null if it is not. It is the end of the item's own period: a yearly item
-- renews in another month than the monthly item beside it. What ends before that day is not billed again, and neither
-- is what Stripe bills for nothing until then (pause_collection void). The calendar day of an instant depends on the
-- time zone of the service, which no function knows. The items of a subscription renew on the same day of the month,
-- and the subscription has the day of the earliest: of the days around the instant, it is the one with that number.
CREATE OR REPLACE FUNCTION item_renewal_day(i subscription_items, s subscriptions) RETURNS date LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE extract(day FROM s.next_billing_date)
      WHEN extract(day FROM period.ends) THEN period.ends
      WHEN extract(day FROM period.ends + 1) THEN period.ends + 1
      WHEN extract(day FROM period.ends - 1) THEN period.ends - 1
      ELSE coalesce(period.ends, s.next_billing_date) END
    FROM (SELECT (i.current_period_end AT TIME ZONE 'UTC')::date AS ends) period
    WHERE s.next_billing_date IS NOT NULL AND s.status IN ('trialing', 'active', 'past_due')
      AND CASE WHEN s.cancel_at IS NULL THEN NOT s.cancel_at_period_end ELSE coalesce(
        i.current_period_end < s.cancel_at, s.next_billing_date < (s.cancel_at AT TIME ZONE 'UTC')::date) END
      AND (s.pause_behavior IS DISTINCT FROM 'void' OR s.pause_resumes_at IS NOT NULL AND coalesce(
        i.current_period_end >= s.pause_resumes_at, s.next_billing_date > (s.pause_resumes_at AT TIME ZONE 'UTC')::date))
$$;
