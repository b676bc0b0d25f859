-- Fails with 40001 where another delivery was first (`before` is what the decision saw, null where it was new), or
-- where the customer was erased meanwhile. Both hold the lock of the Stripe customer, so that one of them is first.
CREATE OR REPLACE FUNCTION store_event(event jsonb, event_payload text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF event ->> 'before' IS NULL THEN
    IF (event ->> 'isOfErased')::boolean IS NOT TRUE AND EXISTS (
      SELECT FROM stripe_customers l JOIN customers c ON c.id = l.customer_id
        WHERE l.stripe_customer_id = event ->> 'stripe_customer_id' AND c.erased_at IS NOT NULL
    ) THEN RAISE SQLSTATE '40001'; END IF;
    INSERT INTO stripe_events (id, type, api_version, livemode, stripe_created, object_id, stripe_customer_id,
        payload, outcome, warnings, changes, processed_at)
      SELECT id, type, api_version, livemode, stripe_created, object_id, stripe_customer_id,
        event_payload, outcome, warnings, changes, processed_at
      FROM jsonb_populate_record(NULL::stripe_events, event);
    RETURN;
  END IF;
  UPDATE stripe_events e SET
      -- What was applied stays so, with what it left for staff, though a replay finds a later state.
      outcome = CASE WHEN e.outcome = 'processed' AND r.outcome = 'stale' THEN e.outcome ELSE r.outcome END,
      warnings = CASE WHEN e.outcome = 'processed' AND r.outcome = 'stale' THEN e.warnings ELSE r.warnings END,
      processed_at = r.processed_at,
      -- What an earlier attempt changed was changed by it, too.
      changes = e.changes || r.changes, attempts = e.attempts + 1, error_code = NULL, failure_reason = NULL,
      updated_at = now()
    FROM jsonb_populate_record(NULL::stripe_events, event) r
    WHERE e.id = r.id AND e.outcome::text || ' ' || e.attempts = event ->> 'before';
  IF NOT FOUND THEN RAISE SQLSTATE '40001'; END IF;
END $$;
