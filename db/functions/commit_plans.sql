-- Commits plans in one transaction, each for itself. Answers why one was not committed: an SQLSTATE, or null. One
-- that would have to wait for somebody else's lock is left alone, or the others would wait with it.
CREATE OR REPLACE FUNCTION commit_plans(plans jsonb[], event_payloads text[]) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
  failures text[] := array_fill(NULL::text, ARRAY[cardinality(plans)]);
BEGIN
  PERFORM set_config('lock_timeout', '50', true);
  FOR i IN 1 .. cardinality(plans) LOOP
    BEGIN
      PERFORM commit_plan(plans[i], event_payloads[i]);
    EXCEPTION WHEN OTHERS THEN
      failures[i] := SQLSTATE;
    END;
  END LOOP;
  RETURN failures;
END $$;
