-- The books of a database that has none yet, each row on its own day. When an invoice was cancelled is known only
-- roughly.
CREATE OR REPLACE FUNCTION book_history(time_zone text, at timestamptz DEFAULT now()) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM accounting_entries) THEN RETURN; END IF;
  PERFORM book_entries(
    (SELECT array_agg(id) FROM invoices), (SELECT array_agg(id) FROM payments),
    (at AT TIME ZONE time_zone)::date, time_zone, '-infinity', true);
  INSERT INTO accounting_entries (
    record, invoice_id, payment_id, booked_on, original_date, reverses, customer_number, customer_name, invoice_number,
    due_date, tax_rate, net, tax, gross, currency
  )
  SELECT e.record, e.invoice_id, NULL,
      greatest(e.booked_on, (coalesce(i.provider_as_of, i.updated_at) AT TIME ZONE time_zone)::date), e.original_date,
      e.id, e.customer_number, e.customer_name, e.invoice_number, e.due_date, e.tax_rate, -e.net, -e.tax, -e.gross,
      e.currency
    FROM accounting_entries e JOIN invoices i ON i.id = e.invoice_id
    WHERE e.record = 'invoice' AND i.status = 'cancelled' ORDER BY e.id;
END $$;
