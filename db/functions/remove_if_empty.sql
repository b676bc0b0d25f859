-- Of a customer that sync made for a Stripe customer, which is another one's now: it is left to those who came to it by
-- its e-mail, also after the decision was read; or removed, if nobody has edited it and nothing is its own any more.
CREATE OR REPLACE FUNCTION remove_if_empty(customer int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  -- Waits for whoever is about to give it something; the delete then sees it.
  PERFORM FROM customers WHERE id = customer FOR UPDATE;
  UPDATE stripe_customers SET linked_by = 'created', version = version + 1
    WHERE customer_id = customer AND linked_by = 'email';
  DELETE FROM customers c WHERE c.id = customer AND c.updated_at = c.created_at
    AND NOT EXISTS (SELECT FROM customer_services WHERE customer_id = customer)
    AND NOT EXISTS (SELECT FROM customer_notes WHERE customer_id = customer)
    AND NOT EXISTS (SELECT FROM invoices WHERE customer_id = customer)
    AND NOT EXISTS (SELECT FROM sales_documents WHERE customer_id = customer)
    AND NOT EXISTS (SELECT FROM subscriptions WHERE customer_id = customer)
    AND NOT EXISTS (SELECT FROM payments WHERE customer_id = customer)
    AND NOT EXISTS (SELECT FROM stripe_customers WHERE customer_id = customer)
    AND NOT EXISTS (SELECT FROM merged_customers WHERE customer_id = customer);
END $$;
