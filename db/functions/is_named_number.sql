-- Whether Stripe has named this customer number, in any case. Planned once, by index: commit_plan turns bitmap scans
-- off.
CREATE OR REPLACE FUNCTION is_named_number(number text) RETURNS boolean LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = on
AS $$
BEGIN
  RETURN EXISTS (
    SELECT FROM stripe_customers s WHERE s.numbers <> '[]'
      AND lower(s.numbers::text)::jsonb @> jsonb_build_array(jsonb_build_object('number', lower(number)))
  );
END $$;
