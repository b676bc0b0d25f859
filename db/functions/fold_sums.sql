-- Adds the deltas to the sums, unless somebody else is at it. See keep_counts.
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
