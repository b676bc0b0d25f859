-- The part of commit_plan that writes customers and the Stripe customers linked to them.
CREATE OR REPLACE FUNCTION commit_customers(plan jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  written int;
BEGIN
  IF plan ? 'customersInserted' THEN
    PERFORM insert_created_customer(made, plan -> 'absentNumbers')
      FROM jsonb_array_elements(plan -> 'customersInserted') AS made;
  END IF;
  IF plan ? 'linksInserted' THEN
    INSERT INTO stripe_customers (
      stripe_customer_id, customer_id, linked_by, number_source, number_reported_at, number_reported_by, numbers,
      details, recheck_at
    ) SELECT
      stripe_customer_id, customer_id, linked_by, number_source, number_reported_at, number_reported_by, numbers,
      details, recheck_at
      FROM jsonb_populate_recordset(NULL::stripe_customers, plan -> 'linksInserted');
  END IF;
  IF plan ? 'linksUpdated' THEN
    UPDATE stripe_customers t SET
      customer_id = r.customer_id, linked_by = r.linked_by, number_source = r.number_source,
      number_reported_at = r.number_reported_at, number_reported_by = r.number_reported_by, numbers = r.numbers,
      details = r.details, recheck_at = r.recheck_at, updated_at = now(), version = t.version + 1
      FROM jsonb_populate_recordset(NULL::stripe_customers, plan -> 'linksUpdated') r
      WHERE t.stripe_customer_id = r.stripe_customer_id AND t.version = r.version;
    GET DIAGNOSTICS written = ROW_COUNT;
    IF written < jsonb_array_length(plan -> 'linksUpdated') THEN RAISE SQLSTATE '40001'; END IF;
  END IF;
  -- Fail if an inserted or updated link now leads to an erased customer.
  IF plan ?| ARRAY['linksInserted', 'linksUpdated'] AND EXISTS (
    SELECT FROM customers c WHERE c.erased_at IS NOT NULL AND c.id = ANY (ARRAY(
      SELECT (l ->> 'customer_id')::int FROM jsonb_array_elements(
        coalesce(plan -> 'linksInserted', '[]'::jsonb) || coalesce(plan -> 'linksUpdated', '[]'::jsonb)
      ) AS l
    ))
  ) THEN RAISE SQLSTATE '40001'; END IF;
  IF plan ? 'customersUpdated' THEN
    UPDATE customers t SET
      last_name = r.last_name, email = r.email, phone = r.phone,
      street = r.street, postal_code = r.postal_code, city = r.city,
      country = r.country, version = t.version + 1,
      updated_at = CASE WHEN t.updated_at = t.created_at THEN t.created_at ELSE now() END
      FROM jsonb_populate_recordset(NULL::customers, plan -> 'customersUpdated') r
      WHERE t.id = r.id AND t.version = r.version;
    GET DIAGNOSTICS written = ROW_COUNT;
    IF written < jsonb_array_length(plan -> 'customersUpdated') THEN RAISE SQLSTATE '40001'; END IF;
  END IF;
END $$;
--> statement-breakpoint
-- Inserts a customer with the next number that no other transaction is using. Concurrent calls do not wait for each
-- other. If the insert conflicts, it is tried again with the number that is then the next, up to 100 times. `named`
-- contains the numbers, in lower case, that this commit read from Stripe and that belong to no customer.
CREATE OR REPLACE FUNCTION insert_created_customer(made jsonb, named jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  serial bigint;
BEGIN
  FOR attempt IN 1..100 LOOP
    serial := substr(next_customer_number(), 2)::bigint;
    LOOP
      IF NOT coalesce(named ? ('k' || serial), false)
        AND pg_try_advisory_xact_lock(hashtextextended('customer k' || serial, 0)) THEN
        -- Check again, because a commit that named the number may have ended just before the lock was taken.
        EXIT WHEN NOT is_named_number('K' || serial);
      END IF;
      serial := serial + 1;
    END LOOP;
    INSERT INTO customers (id, customer_number, last_name, email, phone, street, postal_code, city, country)
      OVERRIDING SYSTEM VALUE SELECT r.id, 'K' || serial, r.last_name, r.email, r.phone, r.street,
        r.postal_code, r.city, r.country
      FROM jsonb_populate_record(NULL::customers, made) r
      ON CONFLICT DO NOTHING;
    IF FOUND THEN RETURN; END IF;
  END LOOP;
  RAISE unique_violation;
END $$;
--> statement-breakpoint
-- Moves the rows of a Stripe customer to another customer. A transfer moves too if all its payments then belong to that
-- customer. Otherwise it also pays invoices of the former customer, and stays there.
CREATE OR REPLACE FUNCTION move_stripe_customer(moved text, target int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  transfer_ids int[];
BEGIN
  UPDATE subscriptions SET customer_id = target, version = version + 1, updated_at = now()
    WHERE stripe_customer_id = moved AND customer_id <> target;
  UPDATE invoices SET customer_id = target, version = version + 1, updated_at = now()
    WHERE stripe_customer_id = moved AND customer_id <> target;
  UPDATE payments p SET customer_id = target, version = p.version + 1, updated_at = now() FROM invoices i
    WHERE i.id = p.invoice_id AND i.stripe_customer_id = moved AND p.customer_id <> target;
  UPDATE credit_notes n SET customer_id = target, version = n.version + 1, updated_at = now() FROM invoices i
    WHERE i.id = n.invoice_id AND i.stripe_customer_id = moved AND n.customer_id <> target;
  transfer_ids := ARRAY(
    SELECT t.id FROM invoices i JOIN payments p ON p.invoice_id = i.id JOIN transfers t ON t.reference = p.transfer
      WHERE i.stripe_customer_id = moved AND t.customer_id <> target
  );
  -- Wait for transactions that are using the credit of these transfers, so that the next statement sees their payments.
  PERFORM FROM transfers WHERE id = ANY (transfer_ids) ORDER BY id FOR UPDATE;
  UPDATE transfers t SET customer_id = target, version = t.version + 1, updated_at = now()
    WHERE t.id = ANY (transfer_ids)
      AND NOT EXISTS (SELECT FROM payments p WHERE p.transfer = t.reference AND p.customer_id <> target);
END $$;
--> statement-breakpoint
-- Deletes a customer that sync created, after its Stripe customer was linked to another customer, the heir. Keeps the
-- customer if it was edited or if one of the tables below refers to it. If Stripe customers are linked to it by
-- e-mail, it also stays, and their links become `created`. When it is deleted, its amounts of recorded months become
-- those of the heir, as after a merge.
CREATE OR REPLACE FUNCTION remove_if_empty(customer int, heir int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  -- Wait for transactions that are adding a row for the customer, so that the delete sees the row.
  PERFORM FROM customers WHERE id = customer FOR UPDATE;
  UPDATE stripe_customers SET linked_by = 'created', version = version + 1
    WHERE customer_id = customer AND linked_by = 'email';
  PERFORM FROM customers c WHERE c.id = customer AND c.updated_at = c.created_at
    AND NOT EXISTS (SELECT FROM customer_services WHERE customer_id = customer)
    AND NOT EXISTS (SELECT FROM customer_notes WHERE customer_id = customer)
    AND NOT EXISTS (SELECT FROM invoices WHERE customer_id = customer)
    AND NOT EXISTS (SELECT FROM sales_documents WHERE customer_id = customer)
    AND NOT EXISTS (SELECT FROM subscriptions WHERE customer_id = customer)
    AND NOT EXISTS (SELECT FROM payments WHERE customer_id = customer)
    AND NOT EXISTS (SELECT FROM transfers WHERE customer_id = customer)
    AND NOT EXISTS (SELECT FROM bank_rules WHERE customer_id = customer)
    AND NOT EXISTS (SELECT FROM stripe_customers WHERE customer_id = customer)
    AND NOT EXISTS (SELECT FROM merged_customers WHERE customer_id = customer);
  IF NOT FOUND THEN RETURN; END IF;
  UPDATE month_amounts SET customer_id = heir WHERE customer_id = customer;
  DELETE FROM customers WHERE id = customer;
END $$;
