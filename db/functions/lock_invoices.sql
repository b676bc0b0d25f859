-- Locks every invoice that a plan changes or writes a payment of, in the order of their ids. Whoever records a payment
-- does the same, so the two cannot deadlock over invoices.
CREATE OR REPLACE FUNCTION lock_invoices(plan jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM invoices WHERE id IN (
    SELECT r.id FROM jsonb_to_recordset(plan -> 'invoicesUpdated') AS r(id int)
    UNION ALL SELECT r.invoice_id FROM jsonb_to_recordset(plan -> 'paymentsInserted') AS r(invoice_id int)
    UNION ALL SELECT r.invoice_id FROM jsonb_to_recordset(plan -> 'paymentsUpdated') AS r(invoice_id int)
    UNION ALL SELECT i.id FROM jsonb_to_recordset(plan -> 'handedOver') AS h("from" int)
      JOIN invoices i ON i.subscription_id = h."from"
    UNION ALL SELECT i.id FROM jsonb_to_recordset(plan -> 'moves') AS m(stripe_customer_id text)
      JOIN invoices i ON i.stripe_customer_id = m.stripe_customer_id
  ) ORDER BY id FOR NO KEY UPDATE;
END $$;
