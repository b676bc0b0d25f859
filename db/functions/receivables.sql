-- Returns what these customers owe now, with its age groups on the day `today`, in one row per customer and currency
-- with unpaid invoices. The age groups are those of lib/overdue.ts, and a test compares them.
CREATE OR REPLACE FUNCTION receivables_of(customers int[], today date) RETURNS SETOF receivables LANGUAGE sql STABLE AS $$
  SELECT o.customer_id, o.currency, sum(o.amount_due)::numeric(24,3), count(*)::int, min(o.due),
    coalesce(sum(o.amount_due) FILTER (WHERE today <= o.due), 0)::numeric(24,3),
    coalesce(sum(o.amount_due) FILTER (WHERE today - o.due BETWEEN 1 AND 30), 0)::numeric(24,3),
    coalesce(sum(o.amount_due) FILTER (WHERE today - o.due BETWEEN 31 AND 60), 0)::numeric(24,3),
    coalesce(sum(o.amount_due) FILTER (WHERE today - o.due BETWEEN 61 AND 90), 0)::numeric(24,3),
    coalesce(sum(o.amount_due) FILTER (WHERE today - o.due > 90), 0)::numeric(24,3),
    greatest(
      (SELECT max(p.payment_date) FROM payments p WHERE p.customer_id = o.customer_id AND p.status = 'completed'),
      (SELECT max(t.payment_date) FROM transfers t WHERE t.customer_id = o.customer_id), '-infinity'),
    coalesce((SELECT max(n.created_at) FROM customer_notes n WHERE n.customer_id = o.customer_id), '-infinity'),
    max(CASE WHEN today <= o.due THEN '-infinity' ELSE o.due + CASE WHEN today - o.due > 90 THEN 91
      WHEN today - o.due > 60 THEN 61 WHEN today - o.due > 30 THEN 31 ELSE 1 END END),
    min(CASE WHEN today - o.due > 90 THEN 'infinity' ELSE o.due + CASE WHEN today - o.due > 60 THEN 91
      WHEN today - o.due > 30 THEN 61 WHEN today > o.due THEN 31 ELSE 1 END END)
  FROM (
    SELECT i.customer_id, i.currency, i.amount_due, coalesce(i.due_date, i.invoice_date) AS due
    FROM invoices i WHERE i.status IN ('sent', 'overdue') AND i.customer_id = ANY (customers)
  ) o GROUP BY o.customer_id, o.currency
$$;
--> statement-breakpoint
-- Computes the rows of marked customers, and of up to `most` customers with invoices that have reached another age
-- group. Does nothing while another transaction has the lock. A single statement deletes the marks and computes the
-- rows, so it sees each change whose mark it deletes. A change that is committed later has a mark of its own. See
-- also keep_counts.
CREATE OR REPLACE FUNCTION fold_receivables(most int) RETURNS void LANGUAGE plpgsql
SET jit = off SET enable_seqscan = on SET enable_bitmapscan = on SET enable_hashjoin = on SET enable_mergejoin = on
AS $$
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed'
    OR NOT pg_try_advisory_xact_lock(hashtextextended('fold receivables', 0)) THEN RETURN; END IF;
  WITH marked AS (DELETE FROM receivable_changes RETURNING customer_id), chosen AS MATERIALIZED (
    SELECT ARRAY(SELECT customer_id FROM marked UNION (SELECT customer_id FROM receivables
      WHERE valid_until <= current_date ORDER BY valid_until LIMIT most)) AS ids
  ), found AS MATERIALIZED (
    SELECT r.* FROM chosen, receivables_of(chosen.ids, current_date) r
  ), settled AS (
    DELETE FROM receivables r USING chosen WHERE r.customer_id = ANY (chosen.ids)
      AND NOT EXISTS (SELECT FROM found f WHERE f.customer_id = r.customer_id AND f.currency = r.currency)
  )
  INSERT INTO receivables AS r SELECT * FROM found
    ON CONFLICT (customer_id, currency) DO UPDATE SET
      (open_amount, invoice_count, oldest_due, not_due, days_1_30, days_31_60, days_61_90, over_90_days, last_payment,
        last_note, valid_from, valid_until) = (excluded.open_amount, excluded.invoice_count, excluded.oldest_due,
        excluded.not_due, excluded.days_1_30, excluded.days_31_60, excluded.days_61_90, excluded.over_90_days,
        excluded.last_payment, excluded.last_note, excluded.valid_from, excluded.valid_until)
    WHERE r.* IS DISTINCT FROM excluded.*;
END $$;
--> statement-breakpoint
-- Marks the customers of written rows. About one call in a hundred, and each that marks 500 customers or more, also
-- computes the rows of marked customers.
CREATE OR REPLACE FUNCTION mark_receivables() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  written int := 1;
BEGIN
  IF TG_OP = 'TRUNCATE' THEN
    PERFORM rebuild_receivables();
    RETURN NULL;
  ELSIF TG_OP = 'UPDATE' THEN
    INSERT INTO receivable_changes SELECT NEW.customer_id UNION SELECT OLD.customer_id;
  ELSIF TG_TABLE_NAME = 'invoices' THEN
    INSERT INTO receivable_changes SELECT DISTINCT customer_id FROM changed WHERE status IN ('sent', 'overdue');
    GET DIAGNOSTICS written = ROW_COUNT;
  ELSE
    INSERT INTO receivable_changes SELECT DISTINCT customer_id FROM changed;
    GET DIAGNOSTICS written = ROW_COUNT;
  END IF;
  IF written >= 500 OR written > 0 AND random() < 0.01 THEN
    PERFORM fold_receivables(200);
  END IF;
  RETURN NULL;
END $$;
--> statement-breakpoint
DO $keep$
DECLARE
  source text;
BEGIN
  FOREACH source IN ARRAY ARRAY['invoices', 'payments', 'transfers', 'customer_notes'] LOOP
    EXECUTE replace($template$
CREATE OR REPLACE TRIGGER mark_inserted AFTER INSERT ON [source] REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION mark_receivables();
CREATE OR REPLACE TRIGGER mark_deleted AFTER DELETE ON [source] REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION mark_receivables();
CREATE OR REPLACE TRIGGER mark_truncated AFTER TRUNCATE ON [source]
  FOR EACH STATEMENT EXECUTE FUNCTION mark_receivables();
    $template$, '[source]', source);
  END LOOP;
  CREATE OR REPLACE TRIGGER mark_updated
    AFTER UPDATE OF customer_id, status, currency, amount_due, due_date, invoice_date ON invoices
    FOR EACH ROW WHEN (
      (OLD.customer_id, OLD.currency, OLD.amount_due, OLD.due_date, OLD.invoice_date, OLD.status IN ('sent', 'overdue'))
      IS DISTINCT FROM
      (NEW.customer_id, NEW.currency, NEW.amount_due, NEW.due_date, NEW.invoice_date, NEW.status IN ('sent', 'overdue'))
      AND (OLD.status IN ('sent', 'overdue') OR NEW.status IN ('sent', 'overdue'))
    ) EXECUTE FUNCTION mark_receivables();
  CREATE OR REPLACE TRIGGER mark_updated AFTER UPDATE OF customer_id, status, payment_date ON payments
    FOR EACH ROW WHEN ((OLD.customer_id, OLD.status, OLD.payment_date)
      IS DISTINCT FROM (NEW.customer_id, NEW.status, NEW.payment_date)) EXECUTE FUNCTION mark_receivables();
  CREATE OR REPLACE TRIGGER mark_updated AFTER UPDATE OF customer_id, payment_date ON transfers
    FOR EACH ROW WHEN ((OLD.customer_id, OLD.payment_date) IS DISTINCT FROM (NEW.customer_id, NEW.payment_date))
    EXECUTE FUNCTION mark_receivables();
  CREATE OR REPLACE TRIGGER mark_updated AFTER UPDATE OF customer_id ON customer_notes
    FOR EACH ROW WHEN (OLD.customer_id <> NEW.customer_id) EXECUTE FUNCTION mark_receivables();
END $keep$;
--> statement-breakpoint
-- Returns the wrong rows of these customers, with the excess of the open amount. Leaves out marked customers. Compares
-- the age groups and their validity only if the row is valid today.
CREATE OR REPLACE FUNCTION differing_receivables(ids int[]) RETURNS TABLE (block text, kind_of_rows text, excess_rows numeric)
LANGUAGE sql STABLE AS $$
  SELECT 'customer ' || coalesce(k.customer_id, t.customer_id), coalesce(k.currency, t.currency),
    coalesce(k.open_amount, 0) - coalesce(t.open_amount, 0)
  FROM (SELECT * FROM receivables WHERE customer_id = ANY (ids)) k
  FULL JOIN receivables_of(ids, current_date) t ON t.customer_id = k.customer_id AND t.currency = k.currency
  WHERE coalesce(k.customer_id, t.customer_id) NOT IN (SELECT customer_id FROM receivable_changes) AND (
    (k.open_amount, k.invoice_count, k.oldest_due, k.last_payment, k.last_note)
      IS DISTINCT FROM (t.open_amount, t.invoice_count, t.oldest_due, t.last_payment, t.last_note)
    OR current_date >= k.valid_from AND current_date < k.valid_until AND k.* IS DISTINCT FROM t.*)
$$;
--> statement-breakpoint
-- Computes the rows that have changed, then returns whether those of up to a hundred customers, in the order of their
-- ids from a random one, are right. Returns null, and computes nothing, if another transaction has the lock.
CREATE OR REPLACE FUNCTION check_receivables() RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  start int := (random() * (SELECT coalesce(max(id), 0) FROM customers))::int;
BEGIN
  IF NOT pg_try_advisory_xact_lock(hashtextextended('fold receivables', 0)) THEN RETURN NULL; END IF;
  PERFORM fold_receivables(100000);
  RETURN NOT EXISTS (SELECT FROM differing_receivables(
    ARRAY(SELECT id FROM customers WHERE id >= start ORDER BY id LIMIT 100)));
END $$;
--> statement-breakpoint
-- Computes all rows again, and returns those that were wrong, except rows of marked customers.
CREATE OR REPLACE FUNCTION rebuild_receivables() RETURNS TABLE (block text, kind_of_rows text, excess_rows numeric)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('fold receivables', 0));
  RETURN QUERY SELECT d.* FROM differing_receivables(ARRAY(SELECT customer_id FROM receivables
    UNION SELECT customer_id FROM invoices WHERE status IN ('sent', 'overdue'))) d;
  DELETE FROM receivables;
  WITH marked AS (DELETE FROM receivable_changes)
  INSERT INTO receivables SELECT r.* FROM receivables_of(
    ARRAY(SELECT DISTINCT customer_id FROM invoices WHERE status IN ('sent', 'overdue')), current_date) r;
END $$;
