-- Keeps the sums (db/schema/counts.ts) of invoices, payments and services, as keep_counts does the counts of lists:
-- writers insert deltas, and now and then one of them adds them to the sums. [source] is a table, [row] what its rows
-- are called.
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
  EXECUTE replace(replace(template, '[source]', 'invoices'), '[row]', 'invoice');
  EXECUTE replace(replace(template, '[source]', 'customer_services'), '[row]', 'service');
  CREATE OR REPLACE TRIGGER sum_updated AFTER UPDATE OF payment_date, status, currency, amount, refunded_amount ON payments
    FOR EACH ROW WHEN (
      (OLD.payment_date, OLD.status, OLD.currency, OLD.amount, OLD.refunded_amount)
      IS DISTINCT FROM (NEW.payment_date, NEW.status, NEW.currency, NEW.amount, NEW.refunded_amount)
    ) EXECUTE FUNCTION sum_payments();
  CREATE OR REPLACE TRIGGER sum_updated AFTER UPDATE OF status, currency, amount_due ON invoices
    FOR EACH ROW WHEN (
      (OLD.status, OLD.currency, OLD.amount_due) IS DISTINCT FROM (NEW.status, NEW.currency, NEW.amount_due)
      AND (OLD.status IN ('sent', 'overdue') OR NEW.status IN ('sent', 'overdue'))
    ) EXECUTE FUNCTION sum_invoices();
  CREATE OR REPLACE TRIGGER sum_updated
    AFTER UPDATE OF next_billing_date, status, ends_on, currency, price ON customer_services
    FOR EACH ROW WHEN (
      (OLD.next_billing_date, OLD.status, OLD.ends_on, OLD.currency, OLD.price)
      IS DISTINCT FROM (NEW.next_billing_date, NEW.status, NEW.ends_on, NEW.currency, NEW.price)
    ) EXECUTE FUNCTION sum_customer_services();
END $keep$;
