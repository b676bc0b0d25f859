-- Fails with 40001 where another delivery was first: `before` is what the decision saw, null where it was new.
CREATE OR REPLACE FUNCTION store_event(event jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  r stripe_events := jsonb_populate_record(NULL::stripe_events, event);
BEGIN
  IF event ->> 'before' IS NULL THEN
    INSERT INTO stripe_events (id, type, api_version, livemode, stripe_created, object_id, stripe_customer_id,
        payload, outcome, warnings, changes, processed_at)
      VALUES (r.id, r.type, r.api_version, r.livemode, r.stripe_created, r.object_id, r.stripe_customer_id,
        r.payload, r.outcome, r.warnings, r.changes, r.processed_at);
    RETURN;
  END IF;
  UPDATE stripe_events e SET
      -- What was applied stays so, though a replay finds a later state.
      outcome = CASE WHEN e.outcome = 'processed' AND r.outcome = 'stale' THEN e.outcome ELSE r.outcome END,
      warnings = r.warnings, processed_at = r.processed_at,
      -- What an earlier attempt changed was changed by it, too.
      changes = e.changes || r.changes, attempts = e.attempts + 1, error_code = NULL, failure_reason = NULL,
      updated_at = now()
    WHERE e.id = r.id AND e.outcome::text || ' ' || e.attempts = event ->> 'before';
  IF NOT FOUND THEN RAISE SQLSTATE '40001'; END IF;
END $$;
