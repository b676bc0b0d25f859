-- The functions list_sum_of return what a row adds to the sums of its list (list_sums in db/schema/counts.ts), times
-- `n`. A cancelled invoice has no settled amount, because its total is not claimed.
CREATE OR REPLACE FUNCTION list_sum_of(i invoices, n int) RETURNS SETOF list_sums LANGUAGE sql IMMUTABLE AS $$
  SELECT 'invoice', i.status::text, i.currency, coalesce(i.due_date, 'infinity'), n::bigint,
    (n * i.total)::numeric(24,3), (n * i.tax)::numeric(24,3), (n * i.amount_paid)::numeric(24,3),
    (n * i.amount_due)::numeric(24,3),
    (CASE WHEN i.status = 'cancelled' THEN 0 ELSE n * greatest(i.total - i.amount_paid - i.amount_due, 0) END)::numeric(24,3),
    (CASE WHEN i.uncollectible THEN n * i.amount_due ELSE 0 END)::numeric(24,3)
$$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION list_sum_of(d sales_documents, n int) RETURNS SETOF list_sums LANGUAGE sql IMMUTABLE AS $$
  SELECT 'sales_document', d.type || ' ' || d.status, d.currency, coalesce(d.valid_until, 'infinity'), n::bigint,
    (n * d.total)::numeric(24,3), 0::numeric(24,3), 0::numeric(24,3), 0::numeric(24,3), 0::numeric(24,3), 0::numeric(24,3)
$$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION list_sum_of(s customer_services, n int) RETURNS SETOF list_sums LANGUAGE sql IMMUTABLE AS $$
  SELECT 'service', concat_ws(' ', s.status, s.billing_interval, s.service_type), s.currency,
    coalesce(s.next_billing_date, 'infinity'), n::bigint,
    (n * s.price)::numeric(24,3), 0::numeric(24,3), 0::numeric(24,3), 0::numeric(24,3), 0::numeric(24,3), 0::numeric(24,3)
$$;
--> statement-breakpoint
-- Writes the deltas of the rows that a statement inserted or deleted, or of a row that it changed, as keep_counts does
-- for row counts.
CREATE OR REPLACE FUNCTION sum_list() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  written int := 2;
  n CONSTANT int := CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END;
BEGIN
  IF TG_OP = 'TRUNCATE' THEN
    PERFORM rebuild_list_sums();
    RETURN NULL;
  ELSIF TG_OP = 'UPDATE' THEN
    INSERT INTO list_sum_deltas SELECT * FROM list_sum_of(OLD, -1) UNION ALL SELECT * FROM list_sum_of(NEW, 1);
  ELSE
    IF TG_TABLE_NAME = 'invoices' THEN
      INSERT INTO list_sum_deltas SELECT s.* FROM changed c, LATERAL list_sum_of(ROW(c.*)::invoices, n) s;
    ELSIF TG_TABLE_NAME = 'sales_documents' THEN
      INSERT INTO list_sum_deltas SELECT s.* FROM changed c, LATERAL list_sum_of(ROW(c.*)::sales_documents, n) s;
    ELSE
      INSERT INTO list_sum_deltas SELECT s.* FROM changed c, LATERAL list_sum_of(ROW(c.*)::customer_services, n) s;
    END IF;
    GET DIAGNOSTICS written = ROW_COUNT;
  END IF;
  IF written >= 1000 OR written > 0 AND random() < 0.002 THEN
    PERFORM fold_list_sums();
  END IF;
  RETURN NULL;
END $$;
--> statement-breakpoint
DO $keep$
DECLARE
  source text;
BEGIN
  FOREACH source IN ARRAY ARRAY['invoices', 'sales_documents', 'customer_services'] LOOP
    EXECUTE format('CREATE OR REPLACE TRIGGER list_inserted AFTER INSERT ON %I REFERENCING NEW TABLE AS changed
      FOR EACH STATEMENT EXECUTE FUNCTION sum_list()', source);
    EXECUTE format('CREATE OR REPLACE TRIGGER list_deleted AFTER DELETE ON %I REFERENCING OLD TABLE AS changed
      FOR EACH STATEMENT EXECUTE FUNCTION sum_list()', source);
    EXECUTE format('CREATE OR REPLACE TRIGGER list_truncated AFTER TRUNCATE ON %I
      FOR EACH STATEMENT EXECUTE FUNCTION sum_list()', source);
  END LOOP;
  CREATE OR REPLACE TRIGGER list_updated
    AFTER UPDATE OF status, currency, due_date, total, tax, amount_paid, amount_due, uncollectible ON invoices
    FOR EACH ROW WHEN (
      (OLD.status, OLD.currency, OLD.due_date, OLD.total, OLD.tax, OLD.amount_paid, OLD.amount_due, OLD.uncollectible)
      IS DISTINCT FROM
      (NEW.status, NEW.currency, NEW.due_date, NEW.total, NEW.tax, NEW.amount_paid, NEW.amount_due, NEW.uncollectible)
    ) EXECUTE FUNCTION sum_list();
  CREATE OR REPLACE TRIGGER list_updated AFTER UPDATE OF type, status, currency, valid_until, total ON sales_documents
    FOR EACH ROW WHEN ((OLD.type, OLD.status, OLD.currency, OLD.valid_until, OLD.total)
      IS DISTINCT FROM (NEW.type, NEW.status, NEW.currency, NEW.valid_until, NEW.total)
    ) EXECUTE FUNCTION sum_list();
  CREATE OR REPLACE TRIGGER list_updated
    AFTER UPDATE OF status, billing_interval, service_type, currency, next_billing_date, price ON customer_services
    FOR EACH ROW WHEN (
      (OLD.status, OLD.billing_interval, OLD.service_type, OLD.currency, OLD.next_billing_date, OLD.price)
      IS DISTINCT FROM
      (NEW.status, NEW.billing_interval, NEW.service_type, NEW.currency, NEW.next_billing_date, NEW.price)
    ) EXECUTE FUNCTION sum_list();
END $keep$;
--> statement-breakpoint
-- Adds the deltas to the sums of their days and months, unless another transaction is doing so. See keep_counts.
CREATE OR REPLACE FUNCTION fold_list_sums() RETURNS void LANGUAGE plpgsql
SET jit = off SET enable_seqscan = on SET enable_bitmapscan = on SET enable_hashjoin = on SET enable_mergejoin = on
AS $$
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed'
    OR NOT pg_try_advisory_xact_lock(hashtextextended('fold list sums', 0)) THEN RETURN; END IF;
  WITH folded AS (DELETE FROM list_sum_deltas RETURNING *), days AS (
    SELECT list, kind, currency, day, sum(row_count) AS row_count, sum(total) AS total, sum(tax) AS tax,
      sum(amount_paid) AS amount_paid, sum(amount_due) AS amount_due, sum(settled) AS settled,
      sum(written_off) AS written_off
    FROM folded GROUP BY list, kind, currency, day
  )
  INSERT INTO list_sums AS s
    SELECT list, kind, currency, day, row_count, total, tax, amount_paid, amount_due, settled, written_off FROM days
    UNION ALL SELECT list || ' months', kind, currency, date_trunc('month', day::timestamp)::date, sum(row_count),
      sum(total), sum(tax), sum(amount_paid), sum(amount_due), sum(settled), sum(written_off)
    FROM days GROUP BY 1, 2, 3, 4
    ON CONFLICT (list, day, kind, currency) DO UPDATE SET row_count = s.row_count + excluded.row_count,
      total = s.total + excluded.total, tax = s.tax + excluded.tax, amount_paid = s.amount_paid + excluded.amount_paid,
      amount_due = s.amount_due + excluded.amount_due, settled = s.settled + excluded.settled,
      written_off = s.written_off + excluded.written_off;
END $$;
--> statement-breakpoint
-- Returns what the rows of one day of a list add to the sums. If `one_list` is null, returns that for all rows of all
-- lists. It is stable, so that it reads the same rows as the statement that calls it, even if others write at once.
CREATE OR REPLACE FUNCTION rows_of_list_sums(one_list text, one_day date) RETURNS SETOF list_sums
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_custom_plan AS $$
BEGIN
  RETURN QUERY SELECT r.list, r.kind, r.currency, r.day, sum(r.row_count)::bigint, sum(r.total)::numeric(24,3),
    sum(r.tax)::numeric(24,3), sum(r.amount_paid)::numeric(24,3), sum(r.amount_due)::numeric(24,3),
    sum(r.settled)::numeric(24,3), sum(r.written_off)::numeric(24,3)
  FROM (
    SELECT s.* FROM invoices i, LATERAL list_sum_of(i, 1) s
      WHERE one_list IS NULL OR one_list = 'invoice' AND coalesce(i.due_date, 'infinity') = one_day
    UNION ALL SELECT s.* FROM sales_documents d, LATERAL list_sum_of(d, 1) s
      WHERE one_list IS NULL OR one_list = 'sales_document' AND coalesce(d.valid_until, 'infinity') = one_day
    UNION ALL SELECT s.* FROM customer_services c, LATERAL list_sum_of(c, 1) s
      WHERE one_list IS NULL OR one_list = 'service' AND coalesce(c.next_billing_date, 'infinity') = one_day
  ) r GROUP BY r.list, r.kind, r.currency, r.day;
END $$;
--> statement-breakpoint
-- Returns the wrong sums of one day of a list and of its month. If `one_list` is null, returns those of all lists. The
-- excess is that of the row count if it is wrong, else that of the first wrong amount.
CREATE OR REPLACE FUNCTION differing_list_sums(one_list text, one_day date)
RETURNS TABLE (block text, kind_of_rows text, excess_rows numeric)
LANGUAGE plpgsql SET plan_cache_mode = force_custom_plan AS $$
BEGIN
  RETURN QUERY SELECT f.list || ' ' || f.day, f.kind || ' ' || f.currency, coalesce(nullif(sum(f.row_count * f.n), 0),
      nullif(sum(f.total * f.n), 0), nullif(sum(f.tax * f.n), 0), nullif(sum(f.amount_paid * f.n), 0),
      nullif(sum(f.amount_due * f.n), 0), nullif(sum(f.settled * f.n), 0), nullif(sum(f.written_off * f.n), 0))
  FROM (
    SELECT 1 AS n, s.* FROM list_sums s
      WHERE one_list IS NULL AND s.list NOT LIKE '% months' OR s.list = one_list AND s.day = one_day
    UNION ALL SELECT 1, d.* FROM list_sum_deltas d WHERE one_list IS NULL OR d.list = one_list AND d.day = one_day
    UNION ALL SELECT -1, r.* FROM rows_of_list_sums(one_list, one_day) r
    -- The other parts compare the sums of months with those of their days.
    UNION ALL SELECT 1, s.* FROM list_sums s WHERE CASE WHEN one_list IS NULL THEN s.list LIKE '% months' ELSE
      s.list = one_list || ' months' AND s.day = date_trunc('month', one_day::timestamp)::date END
    UNION ALL SELECT -1, s.list || ' months', s.kind, s.currency, date_trunc('month', s.day::timestamp)::date,
        s.row_count, s.total, s.tax, s.amount_paid, s.amount_due, s.settled, s.written_off
      FROM list_sums s WHERE CASE WHEN one_list IS NULL THEN s.list NOT LIKE '% months' ELSE s.list = one_list
        AND s.day >= date_trunc('month', one_day::timestamp)::date
        AND s.day <= (date_trunc('month', one_day::timestamp) + interval '1 month - 1 day')::date END
  ) f GROUP BY f.list, f.day, f.kind, f.currency
  HAVING (sum(f.row_count * f.n), sum(f.total * f.n), sum(f.tax * f.n), sum(f.amount_paid * f.n),
    sum(f.amount_due * f.n), sum(f.settled * f.n), sum(f.written_off * f.n)) <> (0, 0, 0, 0, 0, 0, 0);
END $$;
--> statement-breakpoint
-- Returns whether the sums of a random day of a list and of its month are right, or null if another transaction has the
-- lock.
CREATE OR REPLACE FUNCTION check_list_sums() RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  checked list_sums;
BEGIN
  IF NOT pg_try_advisory_xact_lock(hashtextextended('fold list sums', 0)) THEN RETURN NULL; END IF;
  SELECT * INTO checked FROM list_sums WHERE list NOT LIKE '% months' ORDER BY random() LIMIT 1;
  RETURN NOT EXISTS (SELECT FROM differing_list_sums(coalesce(checked.list, 'invoice'), coalesce(checked.day, 'infinity')));
END $$;
--> statement-breakpoint
-- Recomputes all sums, and returns those that were wrong.
CREATE OR REPLACE FUNCTION rebuild_list_sums() RETURNS TABLE (block text, kind_of_rows text, excess_rows numeric)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('fold list sums', 0));
  RETURN QUERY SELECT * FROM differing_list_sums(NULL, NULL);
  DELETE FROM list_sums;
  -- One statement, so that a row that is committed meanwhile counts either by itself or by its delta.
  WITH replaced AS (DELETE FROM list_sum_deltas)
  INSERT INTO list_sum_deltas SELECT * FROM rows_of_list_sums(NULL, NULL);
  PERFORM fold_list_sums();
END $$;
--> statement-breakpoint
-- Computes the sums if there are none, because older versions kept none.
DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM list_sums) THEN
    PERFORM rebuild_list_sums();
  END IF;
END $$;
