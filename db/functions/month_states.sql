-- Returns the price of a service per month, or null if the service is billed once.
CREATE OR REPLACE FUNCTION monthly_price(price numeric, bills billing_interval) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$
  SELECT round(price / CASE bills WHEN 'month' THEN 1 WHEN 'quarter' THEN 3 WHEN 'half_year' THEN 6 WHEN 'year' THEN 12
    WHEN 'two_years' THEN 24 WHEN 'three_years' THEN 36 END, 6)
$$;
--> statement-breakpoint
-- Returns what each customer pays per month at the end of the day `last`, and for how many services, by currency and
-- service type. Active services count, and so do services that were cancelled or terminated after that day. Services
-- that begin later, have ended by then, are billed once or cost nothing do not count.
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
-- later one has been recorded. The changes of recurring revenue compare each customer with the month that was recorded
-- before, so the first recorded month has none. What customers owe is known for today only, so today's amounts are
-- recorded, unless the month ended more than 31 days ago.
CREATE OR REPLACE FUNCTION record_month(in_month date, time_zone text, today date) RETURNS boolean LANGUAGE plpgsql
SET jit = off SET enable_seqscan = on SET enable_bitmapscan = on SET enable_hashjoin = on SET enable_mergejoin = on
AS $$
DECLARE
  last date := (in_month + interval '1 month')::date - 1;
  is_first boolean := NOT EXISTS (SELECT FROM month_states);
  is_aged boolean := today <= last + 31;
BEGIN
  IF EXISTS (SELECT FROM month_states WHERE month > in_month) THEN RETURN false; END IF;
  INSERT INTO month_states VALUES (in_month, 'recorded', '', 0, 0) ON CONFLICT DO NOTHING;
  IF NOT FOUND THEN RETURN false; END IF;
  INSERT INTO month_states VALUES (in_month, 'recorded_rows', '', 0, 0);
  INSERT INTO month_states SELECT in_month, 'recorded_age', '', 0, 0 WHERE is_aged;
  WITH found AS MATERIALIZED (
    SELECT * FROM recurring_revenue(last, time_zone)
  ), outdated AS MATERIALIZED (
    SELECT c.customer_id FROM receivable_changes c
    UNION SELECT r.customer_id FROM receivables r WHERE r.valid_from > today
    UNION SELECT r.customer_id FROM receivables r WHERE r.valid_until <= today
  ), owed AS (
    SELECT r.* FROM receivables r WHERE r.customer_id NOT IN (SELECT customer_id FROM outdated)
    UNION ALL SELECT * FROM receivables_of(ARRAY(SELECT customer_id FROM outdated), today)
  ), counted AS MATERIALIZED (
    SELECT 'mrr' AS measure, f.currency, f.customer_id, 1 AS row_count, sum(f.amount) AS amount
      FROM found f GROUP BY f.customer_id, f.currency
    UNION ALL SELECT 'product_' || f.service_type, f.currency, f.customer_id, f.services, f.amount FROM found f
    UNION ALL SELECT age.measure, o.currency, o.customer_id, 1, age.amount
      FROM owed o, LATERAL (VALUES ('age_open', o.open_amount), ('age_not-due', o.not_due), ('age_1-30', o.days_1_30),
        ('age_31-60', o.days_31_60), ('age_61-90', o.days_61_90), ('age_over-90', o.over_90_days)) age(measure, amount)
      WHERE is_aged AND age.amount > 0
  ), before AS MATERIALIZED (
    SELECT b.measure, b.currency, b.customer_id, sum(b.amount) AS amount FROM month_amounts b
    WHERE b.until_month = 'infinity' AND (is_aged OR b.measure NOT LIKE 'age%')
    GROUP BY b.measure, b.currency, b.customer_id
  ), changed AS MATERIALIZED (
    SELECT measure, currency, customer_id, n.amount, b.amount AS before,
      CASE WHEN b.amount IS NULL THEN 'new' WHEN n.amount IS NULL THEN 'churn' WHEN n.amount > b.amount THEN 'expansion'
        ELSE 'contraction' END AS kind
    FROM counted n FULL JOIN before b USING (measure, currency, customer_id) WHERE n.amount IS DISTINCT FROM b.amount
  ), ended AS (
    UPDATE month_amounts m SET until_month = in_month FROM changed c
    WHERE m.until_month = 'infinity' AND c.before IS NOT NULL
      AND m.measure = c.measure AND m.currency = c.currency AND m.customer_id = c.customer_id
  ), written AS (
    INSERT INTO month_amounts (measure, currency, customer_id, amount, first_month, until_month)
      SELECT c.measure, c.currency, c.customer_id, c.amount, in_month, 'infinity'::date FROM changed c
        WHERE c.amount IS NOT NULL
      UNION ALL SELECT 'mrr_' || c.kind, c.currency, c.customer_id, coalesce(c.amount, 0) - coalesce(c.before, 0),
        in_month, last + 1 FROM changed c WHERE c.measure = 'mrr' AND NOT is_first
      ORDER BY 1, 2, 3
    RETURNING measure, currency, amount
  )
  INSERT INTO month_states
    SELECT in_month, c.measure, c.currency, sum(c.row_count), sum(c.amount) FROM counted c
      GROUP BY c.measure, c.currency
    UNION ALL SELECT in_month, w.measure, w.currency, count(*), sum(w.amount) FROM written w
      WHERE w.measure LIKE 'mrr#_%' ESCAPE '#' GROUP BY w.measure, w.currency;
  RETURN true;
END $$;
