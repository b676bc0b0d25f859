-- Commits plans in one transaction, each for itself. Answers why one was not committed: an SQLSTATE, or null. One
-- that would have to wait for somebody else's lock is left alone, or the others would wait with it.
CREATE OR REPLACE FUNCTION commit_plans(plans jsonb) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
  failures text[] := array_fill(NULL::text, ARRAY[jsonb_array_length(plans)]);
  given jsonb;
BEGIN
  PERFORM set_config('lock_timeout', '50', true);
  FOR i IN 1 .. jsonb_array_length(plans) LOOP
    BEGIN
      given := plans -> (i - 1);
      PERFORM commit_plan(with_new_ids(given ->> 'plan', given -> 'fresh'), given -> 'payloads');
    EXCEPTION WHEN OTHERS THEN
      failures[i] := SQLSTATE;
    END;
  END LOOP;
  RETURN failures;
END $$;
