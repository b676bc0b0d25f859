CREATE OR REPLACE FUNCTION move_stripe_customer(moved text, target int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE subscriptions SET customer_id = target, version = version + 1, updated_at = now()
    WHERE stripe_customer_id = moved AND customer_id <> target;
  UPDATE invoices SET customer_id = target, version = version + 1, updated_at = now()
    WHERE stripe_customer_id = moved AND customer_id <> target;
  UPDATE payments p SET customer_id = target, version = p.version + 1, updated_at = now() FROM invoices i
    WHERE i.id = p.invoice_id AND i.stripe_customer_id = moved AND p.customer_id <> target;
END $$;
