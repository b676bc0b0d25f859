-- Adds everything up anew, and tells what was wrong.
CREATE OR REPLACE FUNCTION rebuild_sums() RETURNS TABLE (block text, kind_of_rows text, excess_rows numeric)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('fold sums', 0));
  RETURN QUERY SELECT concat_ws(' ', what, on_day), in_currency, excess FROM differing_sums(NULL);
  DELETE FROM sums;
  WITH folded AS (DELETE FROM sum_deltas)
  INSERT INTO sums SELECT of, day, currency, sum(row_count), sum(amount) FROM (
    SELECT s.* FROM payments p, LATERAL sum_of_payment(p) s
    UNION ALL SELECT s.* FROM invoices i, LATERAL sum_of_invoice(i) s WHERE i.status IN ('sent', 'overdue')
    UNION ALL SELECT * FROM renewal_sums(NULL)
  ) added GROUP BY of, day, currency;
END $$;
