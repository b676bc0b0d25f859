-- The part of commit_plan that writes the inbox. `payloads` has the bodies of new events, then of known events. If
-- another delivery came first, a new event fails with 23505 and a retried event with 40001. An event of a Stripe
-- customer whose customer was erased meanwhile fails with 40001. Erasing locks the same keys, so the check sees an
-- erasure.
CREATE OR REPLACE FUNCTION commit_events(plan jsonb, payloads text[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  written int;
BEGIN
  IF plan ?| ARRAY['eventsInserted', 'eventsUpdated'] THEN
    -- Look rows up by key with subqueries, because a join would read all customers.
    IF EXISTS (
      SELECT FROM customers c WHERE c.erased_at IS NOT NULL AND c.id = ANY (ARRAY(
        SELECT l.customer_id FROM stripe_customers l WHERE l.stripe_customer_id = ANY (ARRAY(
          SELECT jsonb_array_elements_text(e -> 'owners') FROM jsonb_array_elements(
            coalesce(plan -> 'eventsInserted', '[]') || coalesce(plan -> 'eventsUpdated', '[]')) AS e
        ))
      ))
    ) THEN RAISE SQLSTATE '40001'; END IF;
  END IF;
  IF plan ? 'eventsInserted' THEN
    INSERT INTO stripe_events (id, type, api_version, livemode, stripe_created, object_id, stripe_customer_id,
        payload, outcome, warnings, changes, processed_at)
      SELECT id, type, api_version, livemode, stripe_created, object_id, stripe_customer_id,
        given.payload, outcome, warnings, changes, processed_at
      FROM jsonb_populate_recordset(NULL::stripe_events, plan -> 'eventsInserted') WITH ORDINALITY AS e
        JOIN unnest(payloads) WITH ORDINALITY AS given(payload, ordinality) USING (ordinality);
  END IF;
  IF plan ? 'eventsUpdated' THEN
    UPDATE stripe_events e SET
        -- Overwrite the columns from `type` to `payload`, because a failed earlier attempt may have stored another
        -- body.
        type = r.type, api_version = r.api_version, livemode = r.livemode, stripe_created = r.stripe_created,
        object_id = r.object_id, stripe_customer_id = r.stripe_customer_id, payload = r.payload,
        -- If the replay of a processed event is stale, the event stays processed and keeps its warnings for staff.
        outcome = CASE WHEN e.outcome = 'processed' AND r.outcome = 'stale' THEN e.outcome ELSE r.outcome END,
        warnings = CASE WHEN e.outcome = 'processed' AND r.outcome = 'stale' THEN e.warnings ELSE r.warnings END,
        processed_at = r.processed_at,
        -- The changes of earlier attempts stay in the list.
        changes = e.changes || r.changes, attempts = e.attempts + 1, error_code = NULL, failure_reason = NULL,
        updated_at = now()
      FROM (
        SELECT u.*, given.payload
        FROM ROWS FROM (jsonb_to_recordset(plan -> 'eventsUpdated') AS (
          id text, type text, api_version text, livemode boolean, stripe_created timestamptz, object_id text,
          stripe_customer_id text, outcome event_outcome, warnings jsonb, processed_at timestamptz, changes jsonb,
          before text
        )) WITH ORDINALITY AS u
        JOIN unnest(payloads) WITH ORDINALITY AS given(payload, place)
          ON given.place = u.ordinality + coalesce(jsonb_array_length(plan -> 'eventsInserted'), 0)
      ) r
      -- Update only rows that still have the outcome and the attempts that the decision read.
      WHERE e.id = r.id AND e.outcome::text || ' ' || e.attempts = r.before;
    GET DIAGNOSTICS written = ROW_COUNT;
    IF written < jsonb_array_length(plan -> 'eventsUpdated') THEN RAISE SQLSTATE '40001'; END IF;
  END IF;
END $$;
