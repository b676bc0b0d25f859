-- What an accountant posts of invoices and payments as they are now, each on its own day. A fact that [is_sum] is
-- reached by posting differences: nobody says on which day its parts came.
CREATE OR REPLACE FUNCTION accounting_facts(
  invoice_ids int[], payment_ids int[], today date, time_zone text, with_cancelled boolean
) RETURNS TABLE (
  record text, invoice_id int, payment_id int, original_date date, tax_rate numeric, net numeric, tax numeric,
  gross numeric, currency text, is_sum boolean, key text
) LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT f.*, entry_key(f.record, f.invoice_id, f.payment_id, f.original_date, f.tax_rate, f.net, f.tax, f.gross,
      f.currency)
  FROM (
  -- A row for each tax rate, rounded as lib/invoices/line-totals.ts does.
  SELECT 'invoice'::text, i.id, NULL::int, i.invoice_date, r.tax_rate::numeric, r.net::numeric, r.tax::numeric,
      (r.net + r.tax)::numeric, i.currency, false
    FROM invoices i, LATERAL (
      SELECT l.tax_rate, l.net, round(l.net * l.tax_rate / 100, currency_decimals(i.currency)) AS tax
        FROM (
          SELECT n.tax_rate, sum(round(n.quantity * n.unit_price, currency_decimals(i.currency))) AS net
            FROM invoice_lines n WHERE n.invoice_id = i.id GROUP BY n.tax_rate
        ) l
      UNION ALL SELECT NULL, i.subtotal, i.tax WHERE NOT EXISTS (SELECT FROM invoice_lines n WHERE n.invoice_id = i.id)
    ) r
    WHERE i.id = ANY (invoice_ids) AND i.status <> 'draft' AND (i.status <> 'cancelled' OR with_cancelled)
  UNION ALL
  SELECT f.record, i.id, NULL, f.on_day, NULL, NULL, NULL, f.gross, i.currency, true
    FROM invoices i
      LEFT JOIN LATERAL (
        SELECT sum(p.amount - p.refunded_amount) AS recorded FROM payments p
          WHERE p.invoice_id = i.id AND p.status = 'completed' AND (i.stripe_invoice_id IS NULL
            OR p.source <> 'stripe' AND p.id IS DISTINCT FROM i.collected_by_payment_id)
      ) p ON true,
      LATERAL (VALUES
        ('credit', -i.amount_credited, coalesce((i.provider_as_of AT TIME ZONE time_zone)::date, today)),
        ('write_off', CASE WHEN i.uncollectible AND i.status = 'overdue' THEN -i.amount_due ELSE 0 END,
          coalesce((i.provider_as_of AT TIME ZONE time_zone)::date, today)),
        ('balance', coalesce(i.balance_applied, 0), i.invoice_date),
        -- Paid, though no payment is recorded here: without Stripe, or before the invoice was imported.
        ('paid_elsewhere', greatest(0, CASE WHEN i.stripe_invoice_id IS NULL THEN i.amount_paid
          ELSE coalesce(i.amount_off_stripe, 0) END - coalesce(p.recorded, 0)),
          coalesce((i.paid_at AT TIME ZONE time_zone)::date, i.invoice_date))
      ) AS f(record, gross, on_day)
    WHERE i.id = ANY (invoice_ids) AND i.status NOT IN ('draft', 'cancelled') AND f.gross <> 0
  UNION ALL
  SELECT 'payment', p.invoice_id, p.id, p.payment_date, NULL, NULL, NULL, p.amount, p.currency,
      p.source = 'stripe' AND p.amount IS NOT DISTINCT FROM p.provider_amount
    FROM payments p WHERE p.id = ANY (payment_ids) AND p.status IN ('completed', 'refunded')
  UNION ALL
  -- What came back counts up to what was paid: lib/payments/counted-back.ts.
  SELECT 'refund', b.invoice_id, b.payment_id, b.on_day, NULL, NULL, NULL, -b.back, b.currency, false
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
  ) f(record, invoice_id, payment_id, original_date, tax_rate, net, tax, gross, currency, is_sum);
END $$;
