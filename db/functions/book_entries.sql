-- Brings the books in step with invoices and payments as they are now, deleted payments among them: what is new is
-- added, and what is so no longer is taken back by a row of its own. A fact is posted on its own day if that is in the
-- month of [today] or later, or not before [open_from] where that is given; else [today], since its month was handed over.
CREATE OR REPLACE FUNCTION book_entries(
  invoice_ids int[], payment_ids int[], today date, time_zone text, open_from date DEFAULT NULL,
  with_cancelled boolean DEFAULT false
) RETURNS void LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
DECLARE
  first_open date := coalesce(open_from, date_trunc('month', today)::date);
  all_invoices int[];
BEGIN
  -- What was paid elsewhere depends on the payments of an invoice.
  SELECT array_agg(id) INTO all_invoices FROM (
    SELECT unnest(invoice_ids) AS id
    UNION SELECT p.invoice_id FROM payments p WHERE p.id = ANY (payment_ids)
    UNION SELECT e.invoice_id FROM accounting_entries e WHERE e.payment_id = ANY (payment_ids)
  ) touched;
  INSERT INTO accounting_entries (
    record, invoice_id, payment_id, booked_on, original_date, reverses, customer_number, customer_name, invoice_number,
    due_date, payment_reference, method, tax_rate, net, tax, gross, currency
  )
  WITH facts AS MATERIALIZED (
    SELECT f.*, row_number() OVER (PARTITION BY f.key) AS n
      FROM accounting_facts(all_invoices, payment_ids, today, time_zone, with_cancelled) f
  ), by_sum AS MATERIALIZED (
    SELECT DISTINCT f.payment_id FROM facts f WHERE f.is_sum AND f.record = 'payment'
  ), known AS MATERIALIZED (
    SELECT e.*, e.record IN ('credit', 'write_off', 'balance', 'paid_elsewhere')
        OR e.record = 'payment' AND e.payment_id IN (SELECT payment_id FROM by_sum) AS is_sum
      FROM (
        SELECT * FROM accounting_entries WHERE invoice_id = ANY (all_invoices) AND payment_id IS NULL
        UNION ALL SELECT * FROM accounting_entries WHERE payment_id = ANY (payment_ids)
      ) e
  ), standing AS MATERIALIZED (
    SELECT k.*, row_number() OVER (PARTITION BY k.key ORDER BY k.id) AS n
      FROM (
        SELECT e.*, entry_key(e.record, e.invoice_id, e.payment_id, e.original_date, e.tax_rate, e.net, e.tax, e.gross,
            e.currency) AS key
          FROM known e WHERE NOT e.is_sum AND e.reverses IS NULL
      ) k
      WHERE k.id NOT IN (SELECT r.reverses FROM known r WHERE r.reverses IS NOT NULL)
  ), fresh AS (
    SELECT f.record, f.invoice_id, f.payment_id, f.original_date, f.tax_rate, f.net, f.tax, f.gross, f.currency
      FROM facts f LEFT JOIN standing s ON s.key = f.key AND s.n = f.n WHERE NOT f.is_sum AND s.id IS NULL
    UNION ALL
    SELECT d.record, d.invoice_id, d.payment_id, coalesce(max(d.original_date), today), NULL, NULL, NULL, sum(d.gross),
        d.currency
      FROM (
        SELECT f.record, f.invoice_id, f.payment_id, f.original_date, f.gross, f.currency FROM facts f WHERE f.is_sum
        UNION ALL SELECT k.record, k.invoice_id, k.payment_id, NULL, -k.gross, k.currency FROM known k WHERE k.is_sum
      ) d GROUP BY d.record, d.invoice_id, d.payment_id, d.currency HAVING sum(d.gross) <> 0
  )
  SELECT s.record, s.invoice_id, s.payment_id, greatest(today, s.booked_on), s.original_date, s.id, s.customer_number,
      s.customer_name, s.invoice_number, s.due_date, s.payment_reference, s.method, s.tax_rate, -s.net, -s.tax, -s.gross,
      s.currency
    FROM standing s LEFT JOIN facts f ON f.key = s.key AND f.n = s.n AND NOT f.is_sum WHERE f.key IS NULL
  UNION ALL
  SELECT f.record, f.invoice_id, f.payment_id,
      CASE WHEN f.original_date >= first_open THEN f.original_date ELSE today END, f.original_date, NULL,
      c.customer_number, coalesce(nullif(c.company, ''), concat_ws(' ', nullif(c.first_name, ''), nullif(c.last_name, ''))),
      i.number, CASE f.record WHEN 'invoice' THEN i.due_date END, p.payment_reference, p.source::text, f.tax_rate, f.net,
      f.tax, f.gross, f.currency
    FROM fresh f JOIN invoices i ON i.id = f.invoice_id
      LEFT JOIN payments p ON p.id = f.payment_id
      JOIN customers c ON c.id = coalesce(p.customer_id, i.customer_id)
    -- What is taken back first, an invoice's rates from the highest on, payments before what came back of them.
    ORDER BY 6 NULLS LAST, 4, 2, 3 NULLS FIRST, 1, 13 DESC NULLS LAST, 16;
END $$;
