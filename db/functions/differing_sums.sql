-- Sums that are not what their rows add up to, and by how much they are too much. Of one day, or of all.
CREATE OR REPLACE FUNCTION differing_sums(one_day date) RETURNS TABLE (what text, on_day date, in_currency text, excess numeric)
LANGUAGE plpgsql SET plan_cache_mode = force_custom_plan AS $$
BEGIN
  RETURN QUERY SELECT of, day, currency, sum(amount) FROM (
    SELECT * FROM sums WHERE one_day IS NULL OR day = one_day
    UNION ALL SELECT * FROM sum_deltas WHERE one_day IS NULL OR day = one_day
    UNION ALL SELECT s.of, s.day, s.currency, -s.row_count, -s.amount FROM payments p, LATERAL sum_of_payment(p) s
      WHERE one_day IS NULL OR p.payment_date = one_day
    UNION ALL SELECT s.of, s.day, s.currency, -s.row_count, -s.amount FROM invoices i, LATERAL sum_of_invoice(i) s
      WHERE i.status IN ('sent', 'overdue') AND (one_day IS NULL OR one_day = '-infinity')
    UNION ALL SELECT s.of, s.day, s.currency, -s.row_count, -s.amount FROM renewal_sums(one_day) s
  ) found GROUP BY of, day, currency HAVING sum(amount) <> 0 OR sum(row_count) <> 0;
END $$;
