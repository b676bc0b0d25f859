-- Writes what a decision of sync changes, or nothing: fails with 40001 where a row is not the one that was
-- read. Each list of the plan is there only if something is in it. Table names have no schema, so that a dry run's
-- temporary tables take their place. Planned once, by index, like read_snapshot.
CREATE OR REPLACE FUNCTION commit_plan(plan jsonb, payloads jsonb) RETURNS void LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
  entry jsonb;
  r record;
BEGIN
  -- A retry takes these locks before it reads: others wait here, and then fail the check of their versions.
  FOR entry IN SELECT jsonb_array_elements(plan -> 'keys') LOOP
    PERFORM pg_advisory_xact_lock(hashtextextended(entry #>> '{}', 0));
  END LOOP;
  IF plan ? 'absentNumbers' AND (EXISTS (
    SELECT FROM jsonb_array_elements_text(plan -> 'absentNumbers') AS number
      JOIN customers c ON lower(c.customer_number) = number
  ) OR EXISTS (
    SELECT FROM jsonb_array_elements_text(plan -> 'absentNumbers') AS number
      JOIN merged_customers m ON lower(m.customer_number) = number
  )) THEN RAISE SQLSTATE '40001'; END IF;
  IF plan ? 'emails' AND EXISTS (
    SELECT FROM jsonb_to_recordset(plan -> 'emails') AS e(email text, ids int[])
      WHERE e.ids <> ARRAY(SELECT c.id FROM customers c WHERE lower(c.email) = e.email ORDER BY c.id)
  ) THEN RAISE SQLSTATE '40001'; END IF;
  -- Whoever decides on something of a Stripe customer's raises the version of its link, if it has one.
  IF plan ? 'touched' THEN
    FOR r IN SELECT * FROM jsonb_populate_recordset(NULL::stripe_customers, plan -> 'touched') LOOP
      UPDATE stripe_customers t SET version = t.version + 1
        WHERE t.stripe_customer_id = r.stripe_customer_id AND t.version = r.version;
      IF NOT FOUND THEN RAISE SQLSTATE '40001'; END IF;
    END LOOP;
  END IF;
  IF plan ? 'customersInserted' THEN
    PERFORM insert_created_customer(made) FROM jsonb_array_elements(plan -> 'customersInserted') AS made;
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
    FOR r IN SELECT * FROM jsonb_populate_recordset(NULL::stripe_customers, plan -> 'linksUpdated') LOOP
      UPDATE stripe_customers t SET
        customer_id = r.customer_id, linked_by = r.linked_by, number_source = r.number_source,
        number_reported_at = r.number_reported_at, number_reported_by = r.number_reported_by, numbers = r.numbers,
        details = r.details, recheck_at = r.recheck_at, updated_at = now(), version = t.version + 1
        WHERE t.stripe_customer_id = r.stripe_customer_id AND t.version = r.version;
      IF NOT FOUND THEN RAISE SQLSTATE '40001'; END IF;
    END LOOP;
  END IF;
  -- An erased customer keeps the Stripe customers that it had, as they were marked, and gets no others.
  IF plan ?| ARRAY['linksInserted', 'linksUpdated'] AND EXISTS (
    SELECT FROM jsonb_populate_recordset(
        NULL::stripe_customers,
        coalesce(plan -> 'linksInserted', '[]'::jsonb) || coalesce(plan -> 'linksUpdated', '[]'::jsonb)
      ) l JOIN customers c ON c.id = l.customer_id
      WHERE c.erased_at IS NOT NULL
  ) THEN RAISE SQLSTATE '40001'; END IF;
  IF plan ? 'customersUpdated' THEN
    FOR r IN SELECT * FROM jsonb_populate_recordset(NULL::customers, plan -> 'customersUpdated') LOOP
      UPDATE customers t SET
        last_name = r.last_name, email = r.email, phone = r.phone,
        street = r.street, postal_code = r.postal_code, city = r.city,
        country = r.country, version = t.version + 1,
        updated_at = CASE WHEN t.updated_at = t.created_at THEN t.created_at ELSE now() END
        WHERE t.id = r.id AND t.version = r.version;
      IF NOT FOUND THEN RAISE SQLSTATE '40001'; END IF;
    END LOOP;
  END IF;
  IF plan ? 'servicesUpdated' THEN
    FOR r IN SELECT * FROM jsonb_populate_recordset(NULL::customer_services, plan -> 'servicesUpdated') LOOP
      UPDATE customer_services t SET
        next_billing_date = r.next_billing_date, synced_billing_date = r.synced_billing_date,
        ends_on = r.ends_on, updated_at = now(), version = t.version + 1
        WHERE t.id = r.id AND t.version = r.version;
      IF NOT FOUND THEN RAISE SQLSTATE '40001'; END IF;
    END LOOP;
  END IF;
  IF plan ? 'subscriptionsInserted' THEN
    INSERT INTO subscriptions (
      id, customer_id, status, next_billing_date, cancel_at_period_end, cancel_at, ended_at, pause_behavior,
      pause_resumes_at, checkout_completed_at, stripe_subscription_id, stripe_customer_id, stripe_synced_at,
      provider_as_of, recheck_at, provider_gone_at, checkout_reference, reference_declined
    )
      OVERRIDING SYSTEM VALUE SELECT
      id, customer_id, status, next_billing_date, cancel_at_period_end, cancel_at, ended_at, pause_behavior,
      pause_resumes_at, checkout_completed_at, stripe_subscription_id, stripe_customer_id, stripe_synced_at,
      provider_as_of, recheck_at, provider_gone_at, checkout_reference, reference_declined
      FROM jsonb_populate_recordset(NULL::subscriptions, plan -> 'subscriptionsInserted');
  END IF;
  IF plan ? 'itemsDeleted' THEN
    DELETE FROM subscription_items
      WHERE id = ANY (ARRAY(SELECT jsonb_array_elements_text(plan -> 'itemsDeleted')::int));
  END IF;
  IF plan ? 'itemsUpdated' THEN
    FOR r IN SELECT * FROM jsonb_populate_recordset(NULL::subscription_items, plan -> 'itemsUpdated') LOOP
      UPDATE subscription_items t SET
        subscription_id = r.subscription_id, customer_service_id = r.customer_service_id,
        linked_by_staff = r.linked_by_staff, stripe_subscription_item_id = r.stripe_subscription_item_id,
        named_service_id = r.named_service_id, named_service_number = r.named_service_number,
        quantity = r.quantity, amount = r.amount, currency = r.currency, "interval" = r."interval",
        interval_count = r.interval_count, current_period_end = r.current_period_end,
        updated_at = now(), version = t.version + 1
        WHERE t.id = r.id AND t.version = r.version;
      IF NOT FOUND THEN RAISE SQLSTATE '40001'; END IF;
    END LOOP;
  END IF;
  IF plan ? 'itemsInserted' THEN
    INSERT INTO subscription_items (
      id, subscription_id, customer_service_id, linked_by_staff, stripe_subscription_item_id, named_service_id,
      named_service_number, quantity, amount, currency, "interval", interval_count, current_period_end
    )
      OVERRIDING SYSTEM VALUE SELECT
      id, subscription_id, customer_service_id, linked_by_staff, stripe_subscription_item_id, named_service_id,
      named_service_number, quantity, amount, currency, "interval", interval_count, current_period_end
      FROM jsonb_populate_recordset(NULL::subscription_items, plan -> 'itemsInserted');
  END IF;
  IF plan ? 'handedOver' THEN
    UPDATE invoices i SET subscription_id = h."to", version = version + 1
      FROM jsonb_to_recordset(plan -> 'handedOver') AS h("from" int, "to" int) WHERE i.subscription_id = h."from";
  END IF;
  IF plan ? 'subscriptionsDeleted' THEN
    DELETE FROM subscriptions
      WHERE id = ANY (ARRAY(SELECT jsonb_array_elements_text(plan -> 'subscriptionsDeleted')::int));
  END IF;
  IF plan ? 'subscriptionsUpdated' THEN
    FOR r IN SELECT * FROM jsonb_populate_recordset(NULL::subscriptions, plan -> 'subscriptionsUpdated') LOOP
      UPDATE subscriptions t SET
        customer_id = r.customer_id, status = r.status,
        next_billing_date = r.next_billing_date,
        cancel_at_period_end = r.cancel_at_period_end, cancel_at = r.cancel_at,
        ended_at = r.ended_at, pause_behavior = r.pause_behavior,
        pause_resumes_at = r.pause_resumes_at,
        checkout_completed_at = r.checkout_completed_at,
        stripe_subscription_id = r.stripe_subscription_id,
        stripe_customer_id = r.stripe_customer_id, stripe_synced_at = r.stripe_synced_at,
        provider_as_of = r.provider_as_of, recheck_at = r.recheck_at,
        provider_gone_at = r.provider_gone_at,
        checkout_reference = r.checkout_reference,
        reference_declined = r.reference_declined, updated_at = now(), version = t.version + 1
        WHERE t.id = r.id AND t.version = r.version;
      IF NOT FOUND THEN RAISE SQLSTATE '40001'; END IF;
    END LOOP;
  END IF;
  IF plan ? 'invoicesInserted' THEN
    INSERT INTO invoices (
      id, number, customer_id, subscription_id, status, invoice_date, due_date, currency, subtotal, tax, total,
      amount_paid, amount_due, paid_at, payment_failed_at, uncollectible, amount_off_stripe, amount_credited,
      stripe_invoice_id,
      stripe_customer_id, stripe_synced_at, provider_as_of, provider_gone_at, recheck_at
    )
      OVERRIDING SYSTEM VALUE SELECT
      id, number, customer_id, subscription_id, status, invoice_date, due_date, currency, subtotal, tax, total,
      amount_paid, amount_due, paid_at, payment_failed_at, uncollectible, amount_off_stripe, amount_credited,
      stripe_invoice_id,
      stripe_customer_id, stripe_synced_at, provider_as_of, provider_gone_at, recheck_at
      FROM jsonb_populate_recordset(NULL::invoices, plan -> 'invoicesInserted');
  END IF;
  IF plan ? 'invoicesUpdated' THEN
    FOR r IN SELECT * FROM jsonb_populate_recordset(NULL::invoices, plan -> 'invoicesUpdated') LOOP
      UPDATE invoices t SET
        number = r.number, customer_id = r.customer_id, subscription_id = r.subscription_id,
        status = r.status, invoice_date = r.invoice_date, due_date = r.due_date,
        currency = r.currency, subtotal = r.subtotal, tax = r.tax, total = r.total,
        amount_paid = r.amount_paid, amount_due = r.amount_due, paid_at = r.paid_at,
        payment_failed_at = r.payment_failed_at, uncollectible = r.uncollectible,
        amount_off_stripe = r.amount_off_stripe, amount_credited = r.amount_credited,
        stripe_invoice_id = r.stripe_invoice_id, stripe_customer_id = r.stripe_customer_id,
        stripe_synced_at = r.stripe_synced_at,
        provider_as_of = r.provider_as_of, provider_gone_at = r.provider_gone_at,
        recheck_at = r.recheck_at, updated_at = now(), version = t.version + 1
        WHERE t.id = r.id AND t.version = r.version;
      IF NOT FOUND THEN RAISE SQLSTATE '40001'; END IF;
    END LOOP;
  END IF;
  IF plan ? 'moves' THEN
    PERFORM move_stripe_customer(m.stripe_customer_id, m.customer_id)
      FROM jsonb_to_recordset(plan -> 'moves') AS m(stripe_customer_id text, customer_id int);
  END IF;
  IF plan ? 'paymentsInserted' THEN
    INSERT INTO payments (
      id, invoice_id, customer_id, amount, currency, payment_date, payment_reference, status, source,
      provider_amount, provider_payment_date, stripe_payment_intent_id, refunded_amount
    )
      OVERRIDING SYSTEM VALUE SELECT
      id, invoice_id, customer_id, amount, currency, payment_date, payment_reference, status, source,
      provider_amount, provider_payment_date, stripe_payment_intent_id, refunded_amount
      FROM jsonb_populate_recordset(NULL::payments, plan -> 'paymentsInserted');
    IF EXISTS (
      SELECT FROM jsonb_populate_recordset(NULL::payments, plan -> 'paymentsInserted') p
        JOIN payment_tombstones t ON t.reference = p.payment_reference
    ) THEN RAISE SQLSTATE '40001'; END IF;
  END IF;
  IF plan ? 'paymentsUpdated' THEN
    FOR r IN SELECT * FROM jsonb_populate_recordset(NULL::payments, plan -> 'paymentsUpdated') LOOP
      UPDATE payments t SET
        invoice_id = r.invoice_id, customer_id = r.customer_id, amount = r.amount,
        currency = r.currency, payment_date = r.payment_date,
        payment_reference = r.payment_reference, status = r.status, source = r.source,
        provider_amount = r.provider_amount, provider_payment_date = r.provider_payment_date,
        stripe_payment_intent_id = r.stripe_payment_intent_id, refunded_amount = r.refunded_amount,
        updated_at = now(), version = t.version + 1
        WHERE t.id = r.id AND t.version = r.version;
      IF NOT FOUND THEN RAISE SQLSTATE '40001'; END IF;
    END LOOP;
  END IF;
  IF plan ?| ARRAY['refundsDeleted', 'refundsUpdated', 'refundsInserted', 'disputesUpdated', 'disputesInserted'] THEN
    PERFORM commit_money_back(plan);
  END IF;
  IF plan ? 'abandoned' THEN
    PERFORM remove_if_empty(id::int) FROM jsonb_array_elements_text(plan -> 'abandoned') AS id;
  END IF;
  IF plan ? 'events' THEN
    FOR i IN 1 .. jsonb_array_length(plan -> 'events') LOOP
      PERFORM store_event(plan -> 'events' -> (i - 1), payloads ->> (i - 1));
    END LOOP;
  END IF;
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
