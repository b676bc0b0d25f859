-- Returns the price of a service per month. Null if it is billed once.
CREATE OR REPLACE FUNCTION monthly_price(price numeric, bills billing_interval) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$
  SELECT round(price / CASE bills WHEN 'month' THEN 1 WHEN 'quarter' THEN 3 WHEN 'half_year' THEN 6 WHEN 'year' THEN 12
    WHEN 'two_years' THEN 24 WHEN 'three_years' THEN 36 END, 6)
$$;
--> statement-breakpoint
-- Returns what customers pay per month at the end of the last day, by service type, and for how many services. A service
-- that was cancelled later counts. So does one that is active, unless it begins later or has ended.
CREATE OR REPLACE FUNCTION recurring_revenue(last date, time_zone text)
RETURNS TABLE (customer_id int, currency text, service_type service_type, services int, amount numeric)
LANGUAGE sql STABLE AS $$
  SELECT s.customer_id, s.currency, s.service_type, count(*)::int, sum(monthly_price(s.price, s.billing_interval))
  FROM customer_services s
  WHERE s.billing_interval <> 'once' AND s.price > 0
    AND (s.start_date IS NULL OR s.start_date <= last) AND (s.ends_on IS NULL OR s.ends_on > last)
    AND (s.status = 'active'
      OR s.status IN ('cancelled', 'terminated') AND (s.cancelled_at AT TIME ZONE time_zone)::date > last)
  GROUP BY s.customer_id, s.currency, s.service_type
$$;
--> statement-breakpoint
-- Records the state at the end of a month, given its first day. Returns false, and changes nothing, if this month or a
-- later one has been recorded. The changes compare the customers with the month that was recorded before. What customers
-- owe is known for today only, so it is not recorded for a month that ended longer ago.
CREATE OR REPLACE FUNCTION record_month(in_month date, time_zone text, today date) RETURNS boolean LANGUAGE plpgsql
SET jit = off SET enable_seqscan = on SET enable_bitmapscan = on SET enable_hashjoin = on SET enable_mergejoin = on
AS $$
DECLARE
  last date := (in_month + interval '1 month')::date - 1;
  is_first boolean := NOT EXISTS (SELECT FROM month_states);
BEGIN
  IF EXISTS (SELECT FROM month_states WHERE month > in_month) THEN RETURN false; END IF;
  INSERT INTO month_states VALUES (in_month, 'recorded', '', 0, 0) ON CONFLICT DO NOTHING;
  IF NOT FOUND THEN RETURN false; END IF;
  WITH found AS MATERIALIZED (
    SELECT * FROM recurring_revenue(last, time_zone)
  ), paying AS MATERIALIZED (
    SELECT f.customer_id, f.currency, sum(f.amount) AS amount FROM found f GROUP BY f.customer_id, f.currency
  ), changed AS MATERIALIZED (
    SELECT coalesce(p.customer_id, b.customer_id) AS customer_id, coalesce(p.currency, b.currency) AS currency,
      coalesce(p.amount, 0) - coalesce(b.amount, 0) AS change,
      CASE WHEN is_first THEN 'first' WHEN b.amount IS NULL THEN 'new' WHEN p.amount IS NULL THEN 'churn'
        WHEN p.amount > b.amount THEN 'expansion' ELSE 'contraction' END AS kind
    FROM paying p FULL JOIN (
      SELECT c.customer_id, c.currency, sum(c.change) AS amount FROM mrr_changes c
      GROUP BY c.customer_id, c.currency HAVING sum(c.change) <> 0
    ) b ON b.customer_id = p.customer_id AND b.currency = p.currency
    WHERE p.amount IS DISTINCT FROM b.amount
  ), written AS (
    INSERT INTO mrr_changes (month, customer_id, currency, kind, change)
      SELECT in_month, c.customer_id, c.currency, c.kind, c.change FROM changed c ORDER BY c.customer_id, c.currency
  )
  INSERT INTO month_states
    SELECT in_month, 'mrr', p.currency, count(*), sum(p.amount) FROM paying p GROUP BY p.currency
    UNION ALL SELECT in_month, 'mrr_' || c.kind, c.currency, count(*), sum(c.change) FROM changed c
      WHERE c.kind <> 'first' GROUP BY c.kind, c.currency
    UNION ALL SELECT in_month, 'product_' || f.service_type, f.currency, sum(f.services), sum(f.amount) FROM found f
      GROUP BY f.service_type, f.currency;
  IF today > last + 31 THEN RETURN true; END IF;
  INSERT INTO month_states VALUES (in_month, 'recorded_age', '', 0, 0);
  WITH outdated AS MATERIALIZED (
    SELECT c.customer_id FROM receivable_changes c
    UNION SELECT r.customer_id FROM receivables r WHERE r.valid_from > today
    UNION SELECT r.customer_id FROM receivables r WHERE r.valid_until <= today
  ), owed AS (
    SELECT r.* FROM receivables r WHERE r.customer_id NOT IN (SELECT customer_id FROM outdated)
    UNION ALL SELECT * FROM receivables_of(ARRAY(SELECT customer_id FROM outdated), today)
  )
  INSERT INTO month_states
    SELECT in_month, age.measure, o.currency, count(*), sum(age.amount)
    FROM owed o, LATERAL (VALUES ('age_not-due', o.not_due), ('age_1-30', o.days_1_30), ('age_31-60', o.days_31_60),
      ('age_61-90', o.days_61_90), ('age_over-90', o.over_90_days)) age(measure, amount)
    WHERE age.amount > 0 GROUP BY age.measure, o.currency;
  RETURN true;
END $$;
