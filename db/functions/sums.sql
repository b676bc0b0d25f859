-- Returns what a payment adds to the sums, on its payment date. A completed payment adds its full amount, even if a
-- part was refunded. A payment with the status `refunded` adds its refunded amount, or nothing if no refund is
-- recorded. Other payments add nothing.
CREATE OR REPLACE FUNCTION sum_of_payment(p payments) RETURNS SETOF sums LANGUAGE sql IMMUTABLE AS $$
  SELECT 'received', p.payment_date, p.currency, 1::bigint,
    (CASE p.status WHEN 'completed' THEN p.amount ELSE p.refunded_amount END)::numeric(24,3)
  WHERE p.status = 'completed' OR (p.status = 'refunded' AND p.refunded_amount > 0)
$$;
--> statement-breakpoint
-- Returns what a service adds to the sums. This is its price on its next billing date, if the service is active and
-- does not end by that date.
CREATE OR REPLACE FUNCTION sum_of_service(s customer_services) RETURNS SETOF sums LANGUAGE sql IMMUTABLE AS $$
  SELECT 'service_renewals', s.next_billing_date, s.currency, 1::bigint, s.price::numeric(24,3)
  WHERE s.status = 'active' AND s.next_billing_date IS NOT NULL
    AND (s.ends_on IS NULL OR s.next_billing_date < s.ends_on)
$$;
--> statement-breakpoint
-- Returns what an entry of the journal adds to the sums. An invoice, credit, payment or refund adds its gross and net
-- amounts in the month in which it is posted. Other entries add nothing.
CREATE OR REPLACE FUNCTION sum_of_entry(e accounting_entries) RETURNS SETOF sums LANGUAGE sql IMMUTABLE AS $$
  SELECT amounts.of || e.record, e.booked_on - extract(day FROM e.booked_on)::int + 1, e.currency, 1::bigint,
    amounts.amount::numeric(24,3)
  FROM (VALUES ('booked_', e.gross), ('net_', e.net)) amounts(of, amount)
  WHERE e.record IN ('invoice', 'credit', 'payment', 'refund') AND amounts.amount IS NOT NULL
$$;
--> statement-breakpoint
-- Returns the billing day of a period, given the day in UTC on which the period ends. In the service's time zone, which
-- this function does not know, that day may be one day earlier or later. Except in short months, all items of a
-- subscription renew on the same day of the month as `earliest`, so the function picks the day that matches. If none of
-- the three days matches, it returns `ends`. If `ends` is null, it returns `earliest`.
CREATE OR REPLACE FUNCTION nearest_billing_day(ends date, earliest date) RETURNS date LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE extract(day FROM earliest)
    WHEN extract(day FROM ends) THEN ends
    WHEN extract(day FROM ends + 1) THEN ends + 1
    WHEN extract(day FROM ends - 1) THEN ends - 1
    ELSE coalesce(ends, earliest) END
$$;
--> statement-breakpoint
-- Returns the day of an item's next bill, or null if the item is not billed again. The day is the end of the item's
-- own period, because a yearly item renews in another month than a monthly item of its subscription. Also returns
-- null if the item ends by that day, or if Stripe still voids invoices on that day (pause_collection). The function
-- is an expression without FROM, so that PostgreSQL inlines it and does not call it for each row.
CREATE OR REPLACE FUNCTION item_renewal_day(i subscription_items, s subscriptions) RETURNS date LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN s.next_billing_date IS NOT NULL AND s.status IN ('trialing', 'active', 'past_due')
      AND CASE WHEN s.cancel_at IS NULL THEN NOT s.cancel_at_period_end ELSE coalesce(
        i.current_period_end < s.cancel_at, s.next_billing_date < (s.cancel_at AT TIME ZONE 'UTC')::date) END
      AND (s.pause_behavior IS DISTINCT FROM 'void' OR s.pause_resumes_at IS NOT NULL AND coalesce(
        i.current_period_end >= s.pause_resumes_at, s.next_billing_date > (s.pause_resumes_at AT TIME ZONE 'UTC')::date))
    THEN nearest_billing_day((i.current_period_end AT TIME ZONE 'UTC')::date, s.next_billing_date) END
$$;
--> statement-breakpoint
-- Returns what an item adds to the sums. This is its amount on its renewal day, if it has both.
CREATE OR REPLACE FUNCTION sum_of_item(i subscription_items, s subscriptions) RETURNS SETOF sums LANGUAGE sql IMMUTABLE AS $$
  SELECT 'item_renewals', renewal.day, i.currency, 1::bigint, i.amount::numeric(24,3)
  FROM (SELECT item_renewal_day(i, s) AS day) renewal
  WHERE i.amount IS NOT NULL AND i.currency IS NOT NULL AND renewal.day IS NOT NULL
$$;
--> statement-breakpoint
-- Creates the triggers that maintain the sums (db/schema/counts.ts) of payments, services and the journal, as
-- keep_counts does for row counts. Writers insert deltas, and sometimes a writer adds all deltas to the
-- sums. In the template, [source] is the table, and [row] completes the name sum_of_[row].
DO $keep$
DECLARE
  template CONSTANT text := $template$
CREATE OR REPLACE FUNCTION sum_[source]() RETURNS trigger LANGUAGE plpgsql AS $body$
DECLARE
  written int := 2;
BEGIN
  IF TG_OP = 'UPDATE' THEN
    INSERT INTO sum_deltas SELECT s.of, s.day, s.currency, -s.row_count, -s.amount FROM sum_of_[row](OLD) s
      UNION ALL SELECT * FROM sum_of_[row](NEW);
  ELSIF TG_OP = 'TRUNCATE' THEN
    PERFORM rebuild_sums();
    RETURN NULL;
  ELSE
    INSERT INTO sum_deltas
      SELECT s.of, s.day, s.currency, sign.n * sum(s.row_count), sign.n * sum(s.amount)
      FROM (SELECT CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END AS n) sign,
        changed c, LATERAL sum_of_[row](ROW(c.*)::[source]) s
      GROUP BY sign.n, s.of, s.day, s.currency;
    GET DIAGNOSTICS written = ROW_COUNT;
  END IF;
  IF written >= 1000 OR written > 0 AND random() < 0.002 THEN
    PERFORM fold_sums();
  END IF;
  RETURN NULL;
END $body$;

CREATE OR REPLACE TRIGGER sum_inserted AFTER INSERT ON [source] REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sum_[source]();
CREATE OR REPLACE TRIGGER sum_deleted AFTER DELETE ON [source] REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sum_[source]();
CREATE OR REPLACE TRIGGER sum_truncated AFTER TRUNCATE ON [source]
  FOR EACH STATEMENT EXECUTE FUNCTION sum_[source]();
  $template$;
BEGIN
  EXECUTE replace(replace(template, '[source]', 'payments'), '[row]', 'payment');
  EXECUTE replace(replace(template, '[source]', 'customer_services'), '[row]', 'service');
  EXECUTE replace(replace(template, '[source]', 'accounting_entries'), '[row]', 'entry');
  CREATE OR REPLACE TRIGGER sum_updated AFTER UPDATE OF booked_on, record, currency, net, gross ON accounting_entries
    FOR EACH ROW WHEN ((OLD.booked_on, OLD.record, OLD.currency, OLD.net, OLD.gross)
      IS DISTINCT FROM (NEW.booked_on, NEW.record, NEW.currency, NEW.net, NEW.gross)
    ) EXECUTE FUNCTION sum_accounting_entries();
  CREATE OR REPLACE TRIGGER sum_updated AFTER UPDATE OF payment_date, status, currency, amount, refunded_amount ON payments
    FOR EACH ROW WHEN (
      (OLD.payment_date, OLD.status, OLD.currency, OLD.amount, OLD.refunded_amount)
      IS DISTINCT FROM (NEW.payment_date, NEW.status, NEW.currency, NEW.amount, NEW.refunded_amount)
    ) EXECUTE FUNCTION sum_payments();
  CREATE OR REPLACE TRIGGER sum_updated
    AFTER UPDATE OF next_billing_date, status, ends_on, currency, price ON customer_services
    FOR EACH ROW WHEN (
      (OLD.next_billing_date, OLD.status, OLD.ends_on, OLD.currency, OLD.price)
      IS DISTINCT FROM (NEW.next_billing_date, NEW.status, NEW.ends_on, NEW.currency, NEW.price)
    ) EXECUTE FUNCTION sum_customer_services();
END $keep$;
--> statement-breakpoint
-- Writes the renewal days of items to item_renewals, from which lists read them. Deletes the rows of items that have no
-- such day.
CREATE OR REPLACE FUNCTION note_renewals(items int[]) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
  WITH found AS (
    SELECT i.id, item_renewal_day(i, s) AS day
    FROM subscription_items i JOIN subscriptions s ON s.id = i.subscription_id WHERE i.id = ANY (items)
  ), ended AS (
    DELETE FROM item_renewals r USING found f WHERE r.id = f.id AND f.day IS NULL
  )
  INSERT INTO item_renewals AS r SELECT id, day FROM found WHERE day IS NOT NULL ORDER BY id
    ON CONFLICT (id) DO UPDATE SET day = excluded.day WHERE r.day <> excluded.day;
END $$;
--> statement-breakpoint
-- Maintains the sums of subscription items, and their days in item_renewals. An item's renewal day also depends on its
-- subscription, so writers of either take the lock of their Stripe customer and see each other's changes.
DO $keep$ BEGIN
CREATE OR REPLACE FUNCTION sum_subscription_items() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
  IF TG_OP = 'TRUNCATE' THEN
    PERFORM rebuild_sums();
    RETURN NULL;
  ELSIF TG_TABLE_NAME = 'subscriptions' THEN
    PERFORM note_renewals(ARRAY(SELECT id FROM subscription_items WHERE subscription_id = NEW.id));
    INSERT INTO sum_deltas
      SELECT d.of, d.day, d.currency, -d.row_count, -d.amount
        FROM subscription_items i, LATERAL sum_of_item(i, OLD) d WHERE i.subscription_id = NEW.id
      UNION ALL SELECT d.* FROM subscription_items i, LATERAL sum_of_item(i, NEW) d WHERE i.subscription_id = NEW.id;
  ELSIF TG_OP = 'UPDATE' THEN
    PERFORM note_renewals(ARRAY[NEW.id]);
    INSERT INTO sum_deltas
      SELECT d.of, d.day, d.currency, -d.row_count, -d.amount
        FROM subscriptions s, LATERAL sum_of_item(OLD, s) d WHERE s.id = OLD.subscription_id
      UNION ALL SELECT d.* FROM subscriptions s, LATERAL sum_of_item(NEW, s) d WHERE s.id = NEW.subscription_id;
  ELSE
    IF TG_OP = 'INSERT' THEN
      PERFORM note_renewals(ARRAY(SELECT id FROM changed));
    END IF;
    INSERT INTO sum_deltas
      SELECT d.of, d.day, d.currency, sign.n * d.row_count, sign.n * d.amount
      FROM (SELECT CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END AS n) sign,
        changed c JOIN subscriptions s ON s.id = c.subscription_id,
        LATERAL sum_of_item(ROW(c.*)::subscription_items, s) d;
  END IF;
  IF FOUND AND random() < 0.002 THEN
    PERFORM fold_sums();
  END IF;
  RETURN NULL;
END $body$;

-- Deletes items before their subscription, because the trigger on items also reads the subscription.
CREATE OR REPLACE FUNCTION delete_items() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
  DELETE FROM subscription_items WHERE subscription_id = OLD.id;
  RETURN OLD;
END $body$;

  CREATE OR REPLACE TRIGGER sum_inserted AFTER INSERT ON subscription_items REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION sum_subscription_items();
  CREATE OR REPLACE TRIGGER sum_deleted AFTER DELETE ON subscription_items REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION sum_subscription_items();
  CREATE OR REPLACE TRIGGER sum_updated AFTER UPDATE OF subscription_id, amount, currency, current_period_end ON subscription_items
    FOR EACH ROW WHEN (
      (OLD.subscription_id, OLD.amount, OLD.currency, OLD.current_period_end)
      IS DISTINCT FROM (NEW.subscription_id, NEW.amount, NEW.currency, NEW.current_period_end)
    ) EXECUTE FUNCTION sum_subscription_items();
  CREATE OR REPLACE TRIGGER sum_truncated AFTER TRUNCATE ON subscription_items
    FOR EACH STATEMENT EXECUTE FUNCTION sum_subscription_items();
  CREATE OR REPLACE TRIGGER sum_updated
    AFTER UPDATE OF next_billing_date, status, cancel_at, cancel_at_period_end, pause_behavior, pause_resumes_at
      ON subscriptions
    FOR EACH ROW WHEN (
      (OLD.next_billing_date, OLD.status, OLD.cancel_at, OLD.cancel_at_period_end, OLD.pause_behavior,
        OLD.pause_resumes_at)
      IS DISTINCT FROM (NEW.next_billing_date, NEW.status, NEW.cancel_at, NEW.cancel_at_period_end, NEW.pause_behavior,
        NEW.pause_resumes_at)
    ) EXECUTE FUNCTION sum_subscription_items();
  CREATE OR REPLACE TRIGGER delete_items BEFORE DELETE ON subscriptions
    FOR EACH ROW EXECUTE FUNCTION delete_items();
END $keep$;
--> statement-breakpoint
-- Adds the deltas to the sums, unless another transaction is doing so. See keep_counts.
CREATE OR REPLACE FUNCTION fold_sums() RETURNS void LANGUAGE plpgsql
SET jit = off SET enable_seqscan = on SET enable_bitmapscan = on SET enable_hashjoin = on SET enable_mergejoin = on
AS $$
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed'
    OR NOT pg_try_advisory_xact_lock(hashtextextended('fold sums', 0)) THEN RETURN; END IF;
  WITH folded AS (DELETE FROM sum_deltas RETURNING *)
  INSERT INTO sums AS s (of, day, currency, row_count, amount)
    SELECT of, day, currency, sum(row_count), sum(amount) FROM folded
    GROUP BY of, day, currency HAVING sum(row_count) <> 0 OR sum(amount) <> 0
    ON CONFLICT (of, day, currency) DO UPDATE
    SET row_count = s.row_count + excluded.row_count, amount = s.amount + excluded.amount;
END $$;
--> statement-breakpoint
-- Returns the renewal sums of services and items per day and currency, for one day or, if `one_day` is null, for all.
-- The conditions on the columns exclude most rows before the functions are called. It is stable, so that it reads the
-- same rows as the statement that calls it, even if others write at once.
CREATE OR REPLACE FUNCTION renewal_sums(one_day date) RETURNS SETOF sums
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_custom_plan AS $$
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
--> statement-breakpoint
-- Returns the wrong sums of one day or, if `one_day` is null, of all days, with the excess over the sum of their rows.
CREATE OR REPLACE FUNCTION differing_sums(one_day date) RETURNS TABLE (what text, on_day date, in_currency text, excess numeric)
LANGUAGE plpgsql SET plan_cache_mode = force_custom_plan AS $$
BEGIN
  RETURN QUERY SELECT of, day, currency, sum(amount) FROM (
    SELECT * FROM sums WHERE one_day IS NULL OR day = one_day
    UNION ALL SELECT * FROM sum_deltas WHERE one_day IS NULL OR day = one_day
    UNION ALL SELECT s.of, s.day, s.currency, -s.row_count, -s.amount FROM payments p, LATERAL sum_of_payment(p) s
      WHERE one_day IS NULL OR p.payment_date = one_day
    UNION ALL SELECT s.of, s.day, s.currency, -s.row_count, -s.amount
      FROM accounting_entries e, LATERAL sum_of_entry(e) s
      WHERE one_day IS NULL OR extract(day FROM one_day) = 1 AND e.booked_on >= one_day
        AND e.booked_on < one_day + interval '1 month'
    UNION ALL SELECT s.of, s.day, s.currency, -s.row_count, -s.amount FROM renewal_sums(one_day) s
  ) found GROUP BY of, day, currency HAVING sum(amount) <> 0 OR sum(row_count) <> 0;
END $$;
--> statement-breakpoint
-- Returns whether the sums of a random day are right, or null if another transaction has the lock.
CREATE OR REPLACE FUNCTION check_sums() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF NOT pg_try_advisory_xact_lock(hashtextextended('fold sums', 0)) THEN RETURN NULL; END IF;
  RETURN NOT EXISTS (
    SELECT FROM differing_sums(coalesce((SELECT day FROM sums ORDER BY random() LIMIT 1), '-infinity'))
  );
END $$;
--> statement-breakpoint
-- Recomputes all sums and the days of items, and returns the sums that were wrong.
CREATE OR REPLACE FUNCTION rebuild_sums() RETURNS TABLE (block text, kind_of_rows text, excess_rows numeric)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('fold sums', 0));
  RETURN QUERY SELECT concat_ws(' ', what, on_day), in_currency, excess FROM differing_sums(NULL);
  -- Wait for writers of items and let others wait, because otherwise an older day could replace theirs.
  LOCK TABLE item_renewals IN SHARE ROW EXCLUSIVE MODE;
  PERFORM note_renewals(ARRAY(SELECT id FROM subscription_items));
  DELETE FROM sums;
  WITH folded AS (DELETE FROM sum_deltas)
  INSERT INTO sums SELECT of, day, currency, sum(row_count), sum(amount) FROM (
    SELECT s.* FROM payments p, LATERAL sum_of_payment(p) s
    UNION ALL SELECT s.* FROM accounting_entries e, LATERAL sum_of_entry(e) s
    UNION ALL SELECT * FROM renewal_sums(NULL)
  ) added GROUP BY of, day, currency;
END $$;
