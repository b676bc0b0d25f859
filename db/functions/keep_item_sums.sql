-- Keeps the sums of items (see keep_sums), each on its own day, which depends on its subscription too. A writer of either
-- holds the lock of their Stripe customer, so that neither misses what the other writes.
DO $keep$ BEGIN
CREATE OR REPLACE FUNCTION sum_subscription_items() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
  IF TG_OP = 'TRUNCATE' THEN
    PERFORM rebuild_sums();
    RETURN NULL;
  ELSIF TG_TABLE_NAME = 'subscriptions' THEN
    INSERT INTO sum_deltas
      SELECT d.of, d.day, d.currency, -d.row_count, -d.amount
        FROM subscription_items i, LATERAL sum_of_item(i, OLD) d WHERE i.subscription_id = NEW.id
      UNION ALL SELECT d.* FROM subscription_items i, LATERAL sum_of_item(i, NEW) d WHERE i.subscription_id = NEW.id;
  ELSIF TG_OP = 'UPDATE' THEN
    INSERT INTO sum_deltas
      SELECT d.of, d.day, d.currency, -d.row_count, -d.amount
        FROM subscriptions s, LATERAL sum_of_item(OLD, s) d WHERE s.id = OLD.subscription_id
      UNION ALL SELECT d.* FROM subscriptions s, LATERAL sum_of_item(NEW, s) d WHERE s.id = NEW.subscription_id;
  ELSE
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

-- Items go before their subscription does, as long as it tells on which day they are.
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
