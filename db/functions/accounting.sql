-- Returns the number of decimals of a currency, as `currencyDecimals` in lib/money.ts does.
CREATE OR REPLACE FUNCTION currency_decimals(currency text) RETURNS int LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE
    WHEN currency IN ('bif', 'clp', 'djf', 'gnf', 'isk', 'jpy', 'kmf', 'krw', 'mga', 'pyg', 'rwf', 'ugx', 'vnd', 'vuv',
      'xaf', 'xof', 'xpf') THEN 0
    WHEN currency IN ('bhd', 'iqd', 'jod', 'kwd', 'lyd', 'omr', 'tnd') THEN 3
    ELSE 2 END
$$;
--> statement-breakpoint
-- Earlier versions of these functions knew no transfers. Their parameters differ, so the new ones would not replace
-- them.
DROP FUNCTION IF EXISTS accounting_facts(int[], int[], date, text, boolean);
--> statement-breakpoint
DROP FUNCTION IF EXISTS book_entries(int[], int[], date, text, date, boolean);
--> statement-breakpoint
-- Returns the key by which a fact and its accounting entry are matched. Callers append the number of the credit note or
-- the id of the transfer. Equal facts, such as two equal refunds of a payment on one day, have the same key.
CREATE OR REPLACE FUNCTION entry_key(
  record text, invoice_id int, payment_id int, original_date date, tax_rate numeric, net numeric, tax numeric,
  gross numeric, currency text
) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT concat_ws('|', record, invoice_id, coalesce(payment_id, 0), original_date,
    coalesce(tax_rate::numeric(15, 3)::text, '-'), coalesce(net::numeric(15, 3)::text, '-'),
    coalesce(tax::numeric(15, 3)::text, '-'), gross::numeric(15, 3), currency)
$$;
--> statement-breakpoint
-- Returns the facts to post for these invoices, payments and transfers in their current state, each with its date. If
-- `is_sum`, the fact is a total whose parts have no known dates, so only its difference from the posted sum is
-- booked. Our own credit notes and cancellations are facts with their own document numbers, so an invoice stays
-- posted after its cancellation. A cancelled invoice without such a document is a fact only if `with_cancelled`. The
-- part of a transfer that its payments do not use is posted as a payment without an invoice.
CREATE OR REPLACE FUNCTION accounting_facts(
  invoice_ids int[], payment_ids int[], transfer_ids int[], today date, time_zone text, with_cancelled boolean
) RETURNS TABLE (
  record text, invoice_id int, payment_id int, original_date date, tax_rate numeric, net numeric, tax numeric,
  gross numeric, currency text, is_sum boolean, credit_note_number text, transfer_id int, key text
) LANGUAGE plpgsql STABLE ROWS 10 AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT f.*, entry_key(f.record, f.invoice_id, f.payment_id, f.original_date, f.tax_rate, f.net, f.tax, f.gross,
      f.currency) || coalesce('|' || f.credit_note_number, '') || coalesce('|transfer ' || f.transfer_id, '')
  FROM (
  -- One row per tax rate, rounded as in lib/invoices/totals.ts, or a single row if the invoice has no lines.
  SELECT 'invoice'::text, i.id, NULL::int, i.invoice_date, r.tax_rate::numeric, r.net::numeric, r.tax::numeric,
      (r.net + r.tax)::numeric, i.currency, false, NULL::text, NULL::int
    FROM invoices i, LATERAL (
      SELECT l.tax_rate, l.net, round(l.net * l.tax_rate / 100, currency_decimals(i.currency)) AS tax
        FROM (
          SELECT n.tax_rate, sum(round(n.quantity * n.unit_price, currency_decimals(i.currency))) AS net
            FROM invoice_lines n WHERE n.invoice_id = i.id GROUP BY n.tax_rate
        ) l
      UNION ALL SELECT NULL, i.subtotal, i.tax WHERE NOT EXISTS (SELECT FROM invoice_lines n WHERE n.invoice_id = i.id)
    ) r
    WHERE i.id = ANY (invoice_ids) AND i.status <> 'draft' AND (i.status <> 'cancelled' OR with_cancelled
      OR EXISTS (SELECT FROM credit_notes n WHERE n.invoice_id = i.id AND n.kind = 'cancellation'))
  UNION ALL
  SELECT CASE n.kind WHEN 'cancellation' THEN 'invoice' ELSE 'credit' END, n.invoice_id, NULL, n.date, r.tax_rate, -r.net,
      -r.tax, -(r.net + r.tax), n.currency, false, n.number, NULL
    FROM credit_notes n, jsonb_to_recordset(n.rates) r(tax_rate numeric, net numeric, tax numeric)
    -- If another program cancelled the invoice, there is no cancellation document, and the whole invoice is reversed.
    WHERE n.invoice_id = ANY (invoice_ids) AND (EXISTS (
      SELECT FROM credit_notes c WHERE c.invoice_id = n.invoice_id AND c.kind = 'cancellation'
    ) OR NOT EXISTS (SELECT FROM invoices i WHERE i.id = n.invoice_id AND i.status = 'cancelled'))
  UNION ALL
  SELECT f.record, i.id, NULL, f.on_day, NULL, NULL, NULL, f.gross, i.currency, true, NULL, NULL
    FROM invoices i
      LEFT JOIN LATERAL (
        -- Like the amount paid, the sum is after refunds for our own invoices, and before refunds for Stripe's.
        SELECT sum(CASE WHEN i.stripe_invoice_id IS NOT NULL THEN p.amount
            WHEN p.status = 'completed' THEN p.amount - p.refunded_amount END) AS recorded FROM payments p
          WHERE p.invoice_id = i.id AND p.status IN ('completed', 'refunded') AND (i.stripe_invoice_id IS NULL
            OR p.source <> 'stripe' AND p.id IS DISTINCT FROM i.collected_by_payment_id)
      ) p ON true,
      LATERAL (
        VALUES ('credit', CASE WHEN i.stripe_invoice_id IS NOT NULL THEN -i.amount_credited ELSE 0 END,
          coalesce((i.provider_as_of AT TIME ZONE time_zone)::date, today)),
        ('write_off', CASE WHEN i.uncollectible AND i.status = 'overdue' THEN -i.amount_due ELSE 0 END,
          coalesce((i.provider_as_of AT TIME ZONE time_zone)::date, today)),
        ('balance', coalesce(i.balance_applied, 0), i.invoice_date),
        -- Stripe adds an overpaid amount to the customer's balance. See `besidePayments`.
        ('balance', CASE WHEN i.stripe_invoice_id IS NOT NULL AND i.total >= 0
          THEN least(0, i.total - i.balance_applied - i.amount_paid - i.amount_due) ELSE 0 END,
          coalesce((i.paid_at AT TIME ZONE time_zone)::date, i.invoice_date)),
        -- The amount paid without a payment row, outside Stripe for Stripe's invoices and before the import for our own.
        ('paid_elsewhere', greatest(0, CASE WHEN i.stripe_invoice_id IS NULL THEN i.amount_paid
          ELSE coalesce(i.amount_off_stripe, 0) END - coalesce(p.recorded, 0)),
          coalesce((i.paid_at AT TIME ZONE time_zone)::date, i.invoice_date))
        UNION ALL SELECT 'balance', -n.to_balance, n.date FROM credit_notes n
          WHERE n.invoice_id = i.id AND n.voided_at IS NULL AND n.to_balance > 0
      ) AS f(record, gross, on_day)
    WHERE i.id = ANY (invoice_ids) AND i.status NOT IN ('draft', 'cancelled') AND f.gross <> 0
  UNION ALL
  SELECT 'payment', p.invoice_id, p.id, p.payment_date, NULL, NULL, NULL, p.amount, p.currency,
      p.source = 'stripe' AND p.amount IS NOT DISTINCT FROM p.provider_amount, NULL, NULL
    FROM payments p WHERE p.id = ANY (payment_ids) AND p.status IN ('completed', 'refunded')
  UNION ALL
  -- Refunds and lost disputes count up to the payment's amount, as in lib/payments/money-back.ts.
  SELECT 'refund', b.invoice_id, b.payment_id, b.on_day, NULL, NULL, NULL, -b.back, b.currency, false, NULL,
      NULL
    FROM (
      SELECT p.invoice_id, c.payment_id, (c.at AT TIME ZONE time_zone)::date AS on_day, p.currency,
        least(c.so_far, p.amount) - least(c.so_far - c.amount, p.amount) AS back
        FROM (
          SELECT m.*, sum(m.amount) OVER (
              PARTITION BY m.payment_id, m.currency ORDER BY m.at, m.amount, m.id ROWS UNBOUNDED PRECEDING
            ) AS so_far
            FROM (
              SELECT r.id, r.payment_id, r.currency, r.amount, r.issued_at AS at FROM refunds r
                WHERE r.payment_id = ANY (payment_ids)
                  AND (r.status = 'succeeded' OR r.status = 'pending' AND r.source <> 'stripe')
              UNION ALL
              SELECT -d.id, d.payment_id, d.currency, d.amount, coalesce(d.funds_withdrawn_at, d.issued_at) FROM disputes d
                WHERE d.payment_id = ANY (payment_ids) AND (d.status = 'lost' OR d.status = 'prevented'
                  AND d.funds_withdrawn_at IS NOT NULL AND d.funds_returned_at IS NULL)
            ) m
        ) c JOIN payments p ON p.id = c.payment_id AND p.currency = c.currency
        WHERE p.status IN ('completed', 'refunded')
    ) b WHERE b.back > 0
  UNION ALL
  SELECT 'payment', NULL, NULL, t.payment_date, NULL, NULL, NULL, t.amount - coalesce(p.spread, 0), t.currency, false,
      NULL, t.id
    FROM transfers t CROSS JOIN LATERAL (
      SELECT sum(p.amount) AS spread FROM payments p WHERE p.transfer = t.reference
    ) p
    WHERE t.id = ANY (transfer_ids) AND t.amount > coalesce(p.spread, 0)
  UNION ALL
  SELECT 'refund', NULL, NULL, b.date, NULL, NULL, NULL, -b.amount, t.currency, false, NULL, t.id
    FROM transfers t, jsonb_to_recordset(t.paid_back) b(amount numeric, date date) WHERE t.id = ANY (transfer_ids)
  ) f(record, invoice_id, payment_id, original_date, tax_rate, net, tax, gross, currency, is_sum,
    credit_note_number, transfer_id);
END $$;
--> statement-breakpoint
-- Updates the journal to match the current state of these invoices, payments and transfers, which may have been
-- deleted. Adds new facts and changes of sums, and reverses facts that no longer hold. A fact is posted on its own
-- date, or on `today` if its date is before `open_from` (default: the first day of today's month), because earlier
-- months are closed. A reversal is posted on `today`, or on the date of the reversed entry if that is later.
CREATE OR REPLACE FUNCTION book_entries(
  invoice_ids int[], payment_ids int[], today date, time_zone text, open_from date DEFAULT NULL,
  with_cancelled boolean DEFAULT false, transfer_ids int[] DEFAULT NULL
) RETURNS void LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = on
AS $$
DECLARE
  first_open date := coalesce(open_from, date_trunc('month', today)::date);
  all_invoices int[];
BEGIN
  -- Include the invoices of the payments, because `paid_elsewhere` depends on all payments of an invoice.
  SELECT array_agg(id) INTO all_invoices FROM (
    SELECT unnest(invoice_ids) AS id
    UNION SELECT p.invoice_id FROM payments p WHERE p.id = ANY (payment_ids)
    UNION SELECT e.invoice_id FROM accounting_entries e WHERE e.payment_id = ANY (payment_ids)
  ) touched;
  INSERT INTO accounting_entries (
    record, invoice_id, payment_id, booked_on, original_date, reverses, customer_number, customer_name, invoice_number,
    credit_note_number, due_date, payment_reference, method, tax_rate, net, tax, gross, currency, customer_country,
    customer_vat_id, transfer_id
  )
  WITH facts AS MATERIALIZED (
    SELECT f.*, row_number() OVER (PARTITION BY f.key) AS n
      FROM accounting_facts(all_invoices, payment_ids, transfer_ids, today, time_zone, with_cancelled) f
  ), by_sum AS MATERIALIZED (
    SELECT DISTINCT f.payment_id FROM facts f WHERE f.is_sum AND f.record = 'payment'
  ), known AS MATERIALIZED (
    SELECT e.*, e.record IN ('credit', 'write_off', 'balance', 'paid_elsewhere') AND e.credit_note_number IS NULL
        OR e.record = 'payment' AND e.payment_id IN (SELECT payment_id FROM by_sum) AS is_sum
      FROM (
        SELECT * FROM accounting_entries WHERE invoice_id = ANY (all_invoices) AND payment_id IS NULL
        UNION ALL SELECT * FROM accounting_entries WHERE payment_id = ANY (payment_ids)
        UNION ALL SELECT * FROM accounting_entries WHERE transfer_id = ANY (transfer_ids)
      ) e
  ), standing AS MATERIALIZED (
    SELECT k.*, row_number() OVER (PARTITION BY k.key ORDER BY k.id) AS n
      FROM (
        SELECT e.*, entry_key(e.record, e.invoice_id, e.payment_id, e.original_date, e.tax_rate, e.net, e.tax, e.gross,
            e.currency) || coalesce('|' || e.credit_note_number, '') || coalesce('|transfer ' || e.transfer_id, '') AS key
          FROM known e WHERE NOT e.is_sum AND e.reverses IS NULL
      ) k
      WHERE k.id NOT IN (SELECT r.reverses FROM known r WHERE r.reverses IS NOT NULL)
  ), fresh AS (
    SELECT f.record, f.invoice_id, f.payment_id, f.original_date, f.tax_rate, f.net, f.tax, f.gross, f.currency,
        f.credit_note_number, f.transfer_id
      FROM facts f LEFT JOIN standing s ON s.key = f.key AND s.n = f.n WHERE NOT f.is_sum AND s.id IS NULL
    UNION ALL
    SELECT d.record, d.invoice_id, d.payment_id, coalesce(max(d.original_date), today), NULL, NULL, NULL, sum(d.gross),
        d.currency, NULL, NULL
      FROM (
        SELECT f.record, f.invoice_id, f.payment_id, f.original_date, f.gross, f.currency FROM facts f WHERE f.is_sum
        UNION ALL SELECT k.record, k.invoice_id, k.payment_id, NULL, -k.gross, k.currency FROM known k WHERE k.is_sum
      ) d GROUP BY d.record, d.invoice_id, d.payment_id, d.currency HAVING sum(d.gross) <> 0
  )
  SELECT s.record, s.invoice_id, s.payment_id, greatest(today, s.booked_on), s.original_date, s.id, s.customer_number,
      s.customer_name, s.invoice_number, s.credit_note_number, s.due_date, s.payment_reference, s.method, s.tax_rate,
      -s.net, -s.tax, -s.gross, s.currency, s.customer_country, s.customer_vat_id, s.transfer_id
    FROM standing s LEFT JOIN facts f ON f.key = s.key AND f.n = s.n AND NOT f.is_sum WHERE f.key IS NULL
  UNION ALL
  SELECT f.record, f.invoice_id, f.payment_id,
      CASE WHEN f.original_date >= first_open THEN f.original_date ELSE today END, f.original_date, NULL,
      c.customer_number, coalesce(nullif(c.company, ''), concat_ws(' ', nullif(c.first_name, ''), nullif(c.last_name, ''))),
      i.number, f.credit_note_number, CASE WHEN f.record = 'invoice' AND f.credit_note_number IS NULL THEN i.due_date END,
      coalesce(p.payment_reference, t.reference), coalesce(p.source::text, CASE WHEN t.id IS NOT NULL THEN 'staff' END),
      f.tax_rate, f.net, f.tax, f.gross, f.currency, c.country, c.vat_id, f.transfer_id
    FROM fresh f LEFT JOIN invoices i ON i.id = f.invoice_id
      LEFT JOIN payments p ON p.id = f.payment_id
      LEFT JOIN transfers t ON t.id = f.transfer_id
      -- OFFSET 0 makes PostgreSQL look each customer up by its id. While the journal has no statistics, PostgreSQL
      -- expects hundreds of facts, and would read all customers for each commit.
      CROSS JOIN LATERAL (
        SELECT * FROM customers WHERE id = coalesce(p.customer_id, i.customer_id, t.customer_id) OFFSET 0
      ) c
    -- Sort reversals first, in the order of the reversed entries. Sort the others by date and invoice, with an
    -- invoice's tax rates in descending order, and payments before their refunds.
    ORDER BY 6 NULLS LAST, 4, 2, 3 NULLS FIRST, 1, 14 DESC NULLS LAST, 17;
END $$;
--> statement-breakpoint
-- Builds the journal of a database that has none, with each entry on its own date. A cancelled invoice without a
-- cancellation document has no stored date of cancellation, so its reversal gets the date of the invoice's last known
-- change, or the date of the reversed entry if that is later.
CREATE OR REPLACE FUNCTION book_history(time_zone text, at timestamptz DEFAULT now()) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM accounting_entries) THEN RETURN; END IF;
  PERFORM book_entries(
    (SELECT array_agg(id) FROM invoices), (SELECT array_agg(id) FROM payments),
    (at AT TIME ZONE time_zone)::date, time_zone, '-infinity', true, (SELECT array_agg(id) FROM transfers));
  INSERT INTO accounting_entries (
    record, invoice_id, payment_id, booked_on, original_date, reverses, customer_number, customer_name, invoice_number,
    due_date, tax_rate, net, tax, gross, currency, customer_country, customer_vat_id
  )
  SELECT e.record, e.invoice_id, NULL,
      greatest(e.booked_on, (coalesce(i.provider_as_of, i.updated_at) AT TIME ZONE time_zone)::date), e.original_date,
      e.id, e.customer_number, e.customer_name, e.invoice_number, e.due_date, e.tax_rate, -e.net, -e.tax, -e.gross,
      e.currency, e.customer_country, e.customer_vat_id
    FROM accounting_entries e JOIN invoices i ON i.id = e.invoice_id
    WHERE e.record = 'invoice' AND i.status = 'cancelled'
      AND NOT EXISTS (SELECT FROM credit_notes n WHERE n.invoice_id = i.id AND n.kind = 'cancellation') ORDER BY e.id;
END $$;
