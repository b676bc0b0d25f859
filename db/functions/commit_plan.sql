-- Writes what a decision of sync changes, or nothing: fails with 40001 where a row is not the one that was
-- read. `fresh` names the ids to be made: "-1 subscriptions". Tables have no schema: a dry run lays its own before.
CREATE OR REPLACE FUNCTION commit_plan(given text, fresh text[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  plan jsonb;
  entry text;
  changed int;
  made jsonb;
BEGIN
  FOREACH entry IN ARRAY fresh LOOP
    given := replace(given, '"\u0001' || split_part(entry, ' ', 1) || '"',
      nextval(pg_get_serial_sequence(split_part(entry, ' ', 2), 'id'))::text);
  END LOOP;
  plan := given::jsonb;
  -- Who begins again holds this lock before reading: it is then the others who come too late.
  PERFORM pg_advisory_xact_lock(hashtextextended(k.key, 0)) FROM (
    SELECT jsonb_array_elements_text(plan -> 'keys') AS key ORDER BY 1
  ) k;
  IF plan ? 'absentNumbers' AND EXISTS (
    SELECT FROM jsonb_array_elements_text(plan -> 'absentNumbers') AS number
      JOIN customers c ON lower(c.customer_number) = number
  ) THEN RAISE SQLSTATE '40001'; END IF;
  IF plan ? 'emails' AND EXISTS (
    SELECT FROM jsonb_to_recordset(plan -> 'emails') AS e(email text, ids int[])
      WHERE e.ids <> ARRAY(SELECT c.id FROM customers c WHERE lower(c.email) = e.email ORDER BY c.id)
  ) THEN RAISE SQLSTATE '40001'; END IF;
  -- Whoever decides on something of a Stripe customer's raises the version of its link, if it has one.
  IF plan ? 'touched' THEN
    UPDATE stripe_customers t SET version = t.version + 1
      FROM jsonb_populate_recordset(NULL::stripe_customers, plan -> 'touched') r
      WHERE t.stripe_customer_id = r.stripe_customer_id AND t.version = r.version;
    GET DIAGNOSTICS changed = ROW_COUNT;
    IF changed < jsonb_array_length(plan -> 'touched') THEN RAISE SQLSTATE '40001'; END IF;
  END IF;
  FOR made IN SELECT jsonb_array_elements(plan -> 'customers' -> 'inserted') LOOP
    PERFORM insert_created_customer(made);
  END LOOP;
  IF plan -> 'links' ? 'inserted' THEN
    INSERT INTO stripe_customers (
      stripe_customer_id, customer_id, linked_by, number_source, number_reported_at, number_reported_by, numbers,
      details, recheck_at
    ) SELECT
      stripe_customer_id, customer_id, linked_by, number_source, number_reported_at, number_reported_by, numbers,
      details, recheck_at
      FROM jsonb_populate_recordset(NULL::stripe_customers, plan -> 'links' -> 'inserted');
  END IF;
  IF plan -> 'links' ? 'updated' THEN
    UPDATE stripe_customers t SET
      customer_id = r.customer_id, linked_by = r.linked_by, number_source = r.number_source,
      number_reported_at = r.number_reported_at, number_reported_by = r.number_reported_by, numbers = r.numbers,
      details = r.details, recheck_at = r.recheck_at, updated_at = now(), version = t.version + 1
      FROM jsonb_populate_recordset(NULL::stripe_customers, plan -> 'links' -> 'updated') r
      WHERE t.stripe_customer_id = r.stripe_customer_id AND t.version = r.version;
    GET DIAGNOSTICS changed = ROW_COUNT;
    IF changed < jsonb_array_length(plan -> 'links' -> 'updated') THEN RAISE SQLSTATE '40001'; END IF;
  END IF;
  IF plan -> 'customers' ? 'updated' THEN
    UPDATE customers t SET
      last_name = r.last_name, email = r.email, phone = r.phone, street = r.street,
      postal_code = r.postal_code, city = r.city, country = r.country,
      updated_at = CASE WHEN t.updated_at = t.created_at THEN t.created_at ELSE now() END,
      version = t.version + 1
      FROM jsonb_populate_recordset(NULL::customers, plan -> 'customers' -> 'updated') r
      WHERE t.id = r.id AND t.version = r.version;
    GET DIAGNOSTICS changed = ROW_COUNT;
    IF changed < jsonb_array_length(plan -> 'customers' -> 'updated') THEN RAISE SQLSTATE '40001'; END IF;
  END IF;
  IF plan -> 'services' ? 'updated' THEN
    UPDATE customer_services t SET
      next_billing_date = r.next_billing_date, synced_billing_date = r.synced_billing_date,
      ends_on = r.ends_on, updated_at = now(), version = t.version + 1
      FROM jsonb_populate_recordset(NULL::customer_services, plan -> 'services' -> 'updated') r
      WHERE t.id = r.id AND t.version = r.version;
    GET DIAGNOSTICS changed = ROW_COUNT;
    IF changed < jsonb_array_length(plan -> 'services' -> 'updated') THEN RAISE SQLSTATE '40001'; END IF;
  END IF;
  IF plan -> 'subscriptions' ? 'inserted' THEN
    INSERT INTO subscriptions (
      id, customer_id, status, next_billing_date, cancel_at_period_end, cancel_at, ended_at, pause_behavior,
      pause_resumes_at, checkout_completed_at, stripe_subscription_id, stripe_customer_id, stripe_synced_at,
      provider_as_of, recheck_at, provider_gone_at, checkout_reference, reference_declined
    )
      OVERRIDING SYSTEM VALUE SELECT
      id, customer_id, status, next_billing_date, cancel_at_period_end, cancel_at, ended_at, pause_behavior,
      pause_resumes_at, checkout_completed_at, stripe_subscription_id, stripe_customer_id, stripe_synced_at,
      provider_as_of, recheck_at, provider_gone_at, checkout_reference, reference_declined
      FROM jsonb_populate_recordset(NULL::subscriptions, plan -> 'subscriptions' -> 'inserted');
  END IF;
  IF plan -> 'items' ? 'deleted' THEN
    DELETE FROM subscription_items WHERE id = ANY (ARRAY(SELECT jsonb_array_elements_text(plan -> 'items' -> 'deleted')::int));
  END IF;
  IF plan -> 'items' ? 'updated' THEN
    UPDATE subscription_items t SET
      subscription_id = r.subscription_id, customer_service_id = r.customer_service_id,
      linked_by_staff = r.linked_by_staff, stripe_subscription_item_id = r.stripe_subscription_item_id,
      named_service_id = r.named_service_id, named_service_number = r.named_service_number,
      quantity = r.quantity, amount = r.amount, currency = r.currency, "interval" = r."interval",
      interval_count = r.interval_count, current_period_end = r.current_period_end, updated_at = now(),
      version = t.version + 1
      FROM jsonb_populate_recordset(NULL::subscription_items, plan -> 'items' -> 'updated') r
      WHERE t.id = r.id AND t.version = r.version;
    GET DIAGNOSTICS changed = ROW_COUNT;
    IF changed < jsonb_array_length(plan -> 'items' -> 'updated') THEN RAISE SQLSTATE '40001'; END IF;
  END IF;
  IF plan -> 'items' ? 'inserted' THEN
    INSERT INTO subscription_items (
      id, subscription_id, customer_service_id, linked_by_staff, stripe_subscription_item_id, named_service_id,
      named_service_number, quantity, amount, currency, "interval", interval_count, current_period_end
    )
      OVERRIDING SYSTEM VALUE SELECT
      id, subscription_id, customer_service_id, linked_by_staff, stripe_subscription_item_id, named_service_id,
      named_service_number, quantity, amount, currency, "interval", interval_count, current_period_end
      FROM jsonb_populate_recordset(NULL::subscription_items, plan -> 'items' -> 'inserted');
  END IF;
  IF plan ? 'handedOver' THEN
    UPDATE invoices i SET subscription_id = h."to", version = version + 1
      FROM jsonb_to_recordset(plan -> 'handedOver') AS h("from" int, "to" int) WHERE i.subscription_id = h."from";
  END IF;
  IF plan -> 'subscriptions' ? 'deleted' THEN
    DELETE FROM subscriptions WHERE id = ANY (ARRAY(SELECT jsonb_array_elements_text(plan -> 'subscriptions' -> 'deleted')::int));
  END IF;
  IF plan -> 'subscriptions' ? 'updated' THEN
    UPDATE subscriptions t SET
      customer_id = r.customer_id, status = r.status, next_billing_date = r.next_billing_date,
      cancel_at_period_end = r.cancel_at_period_end, cancel_at = r.cancel_at, ended_at = r.ended_at,
      pause_behavior = r.pause_behavior, pause_resumes_at = r.pause_resumes_at,
      checkout_completed_at = r.checkout_completed_at, stripe_subscription_id = r.stripe_subscription_id,
      stripe_customer_id = r.stripe_customer_id, stripe_synced_at = r.stripe_synced_at,
      provider_as_of = r.provider_as_of, recheck_at = r.recheck_at, provider_gone_at = r.provider_gone_at,
      checkout_reference = r.checkout_reference, reference_declined = r.reference_declined, updated_at = now(),
      version = t.version + 1
      FROM jsonb_populate_recordset(NULL::subscriptions, plan -> 'subscriptions' -> 'updated') r
      WHERE t.id = r.id AND t.version = r.version;
    GET DIAGNOSTICS changed = ROW_COUNT;
    IF changed < jsonb_array_length(plan -> 'subscriptions' -> 'updated') THEN RAISE SQLSTATE '40001'; END IF;
  END IF;
  IF plan -> 'invoices' ? 'inserted' THEN
    INSERT INTO invoices (
      id, number, customer_id, subscription_id, status, invoice_date, due_date, currency, subtotal, tax, total,
      amount_paid, amount_due, paid_at, payment_failed_at, uncollectible, amount_off_stripe, stripe_invoice_id,
      stripe_customer_id, stripe_synced_at, provider_as_of, provider_gone_at, recheck_at
    )
      OVERRIDING SYSTEM VALUE SELECT
      id, number, customer_id, subscription_id, status, invoice_date, due_date, currency, subtotal, tax, total,
      amount_paid, amount_due, paid_at, payment_failed_at, uncollectible, amount_off_stripe, stripe_invoice_id,
      stripe_customer_id, stripe_synced_at, provider_as_of, provider_gone_at, recheck_at
      FROM jsonb_populate_recordset(NULL::invoices, plan -> 'invoices' -> 'inserted');
  END IF;
  IF plan -> 'invoices' ? 'updated' THEN
    UPDATE invoices t SET
      number = r.number, customer_id = r.customer_id, subscription_id = r.subscription_id, status = r.status,
      invoice_date = r.invoice_date, due_date = r.due_date, currency = r.currency, subtotal = r.subtotal,
      tax = r.tax, total = r.total, amount_paid = r.amount_paid, amount_due = r.amount_due,
      paid_at = r.paid_at, payment_failed_at = r.payment_failed_at, uncollectible = r.uncollectible,
      amount_off_stripe = r.amount_off_stripe, stripe_invoice_id = r.stripe_invoice_id,
      stripe_customer_id = r.stripe_customer_id, stripe_synced_at = r.stripe_synced_at,
      provider_as_of = r.provider_as_of, provider_gone_at = r.provider_gone_at, recheck_at = r.recheck_at,
      updated_at = now(), version = t.version + 1
      FROM jsonb_populate_recordset(NULL::invoices, plan -> 'invoices' -> 'updated') r
      WHERE t.id = r.id AND t.version = r.version;
    GET DIAGNOSTICS changed = ROW_COUNT;
    IF changed < jsonb_array_length(plan -> 'invoices' -> 'updated') THEN RAISE SQLSTATE '40001'; END IF;
  END IF;
  IF plan ? 'moves' THEN
    PERFORM move_stripe_customer(m.stripe_customer_id, m.customer_id)
      FROM jsonb_to_recordset(plan -> 'moves') AS m(stripe_customer_id text, customer_id int);
  END IF;
  IF plan -> 'payments' ? 'inserted' THEN
    INSERT INTO payments (
      id, invoice_id, customer_id, amount, currency, payment_date, payment_reference, status, source,
      provider_amount, provider_payment_date, stripe_payment_intent_id
    )
      OVERRIDING SYSTEM VALUE SELECT
      id, invoice_id, customer_id, amount, currency, payment_date, payment_reference, status, source,
      provider_amount, provider_payment_date, stripe_payment_intent_id
      FROM jsonb_populate_recordset(NULL::payments, plan -> 'payments' -> 'inserted');
  END IF;
  IF plan -> 'payments' ? 'updated' THEN
    UPDATE payments t SET
      invoice_id = r.invoice_id, customer_id = r.customer_id, amount = r.amount, currency = r.currency,
      payment_date = r.payment_date, payment_reference = r.payment_reference, status = r.status,
      source = r.source, provider_amount = r.provider_amount, provider_payment_date = r.provider_payment_date,
      stripe_payment_intent_id = r.stripe_payment_intent_id, updated_at = now(), version = t.version + 1
      FROM jsonb_populate_recordset(NULL::payments, plan -> 'payments' -> 'updated') r
      WHERE t.id = r.id AND t.version = r.version;
    GET DIAGNOSTICS changed = ROW_COUNT;
    IF changed < jsonb_array_length(plan -> 'payments' -> 'updated') THEN RAISE SQLSTATE '40001'; END IF;
  END IF;
  IF plan -> 'payments' ? 'inserted' AND EXISTS (
    SELECT FROM jsonb_populate_recordset(NULL::payments, plan -> 'payments' -> 'inserted') p
      JOIN payment_tombstones t ON t.reference = p.payment_reference
  ) THEN RAISE SQLSTATE '40001'; END IF;
  IF plan ? 'abandoned' THEN
    PERFORM remove_if_empty(id::int) FROM jsonb_array_elements_text(plan -> 'abandoned') AS id;
  END IF;
  IF plan ? 'event' THEN PERFORM store_event(plan -> 'event'); END IF;
  IF plan ? 'audits' THEN
    INSERT INTO audit_log (actor_type, actor_id, actor_name, action, entity, entity_id, before, after)
      SELECT actor_type, actor_id, actor_name, action, entity, entity_id, before, after
      FROM jsonb_populate_recordset(NULL::audit_log, plan -> 'audits');
  END IF;
  IF plan ? 'run' THEN
    INSERT INTO reconciliation_changes (run_id, entity, entity_id, stripe_id, field, before, after, outcome)
      SELECT (plan ->> 'run')::int, entity, entity_id, stripe_id, field, before, after, outcome
      FROM jsonb_populate_recordset(NULL::reconciliation_changes, plan -> 'changes');
  END IF;
END $$;
