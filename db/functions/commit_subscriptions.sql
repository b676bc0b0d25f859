-- The part of commit_plan that writes services, subscriptions and items. Inserts subscriptions before their items, and
-- moves items and invoices out of a subscription before deleting the subscription.
CREATE OR REPLACE FUNCTION commit_subscriptions(plan jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  written int;
BEGIN
  IF plan ? 'servicesUpdated' THEN
    UPDATE customer_services t SET
      next_billing_date = r.next_billing_date, synced_billing_date = r.synced_billing_date,
      ends_on = r.ends_on, synced_ends_on = r.synced_ends_on, updated_at = now(), version = t.version + 1
      FROM jsonb_populate_recordset(NULL::customer_services, plan -> 'servicesUpdated') r
      WHERE t.id = r.id AND t.version = r.version;
    GET DIAGNOSTICS written = ROW_COUNT;
    IF written < jsonb_array_length(plan -> 'servicesUpdated') THEN RAISE SQLSTATE '40001'; END IF;
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
    DELETE FROM subscription_items t USING jsonb_populate_recordset(NULL::subscription_items, plan -> 'itemsDeleted') r
      WHERE t.id = r.id AND t.version = r.version;
    GET DIAGNOSTICS written = ROW_COUNT;
    IF written < jsonb_array_length(plan -> 'itemsDeleted') THEN RAISE SQLSTATE '40001'; END IF;
  END IF;
  IF plan ? 'itemsUpdated' THEN
    UPDATE subscription_items t SET
      subscription_id = r.subscription_id, customer_service_id = r.customer_service_id,
      linked_by_staff = r.linked_by_staff, stripe_subscription_item_id = r.stripe_subscription_item_id,
      named_service_id = r.named_service_id, named_service_number = r.named_service_number,
      quantity = r.quantity, amount = r.amount, currency = r.currency, "interval" = r."interval",
      interval_count = r.interval_count, current_period_end = r.current_period_end,
      updated_at = now(), version = t.version + 1
      FROM jsonb_populate_recordset(NULL::subscription_items, plan -> 'itemsUpdated') r
      WHERE t.id = r.id AND t.version = r.version;
    GET DIAGNOSTICS written = ROW_COUNT;
    IF written < jsonb_array_length(plan -> 'itemsUpdated') THEN RAISE SQLSTATE '40001'; END IF;
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
    DELETE FROM subscriptions t USING jsonb_populate_recordset(NULL::subscriptions, plan -> 'subscriptionsDeleted') r
      WHERE t.id = r.id AND t.version = r.version;
    GET DIAGNOSTICS written = ROW_COUNT;
    IF written < jsonb_array_length(plan -> 'subscriptionsDeleted') THEN RAISE SQLSTATE '40001'; END IF;
  END IF;
  IF plan ? 'subscriptionsUpdated' THEN
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
      FROM jsonb_populate_recordset(NULL::subscriptions, plan -> 'subscriptionsUpdated') r
      WHERE t.id = r.id AND t.version = r.version;
    GET DIAGNOSTICS written = ROW_COUNT;
    IF written < jsonb_array_length(plan -> 'subscriptionsUpdated') THEN RAISE SQLSTATE '40001'; END IF;
  END IF;
END $$;
