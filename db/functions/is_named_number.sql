-- Whether Stripe has named a customer number that nobody had then. By index, also where commit_plan's settings would
-- rather have it otherwise.
CREATE OR REPLACE FUNCTION is_named_number(number text) RETURNS boolean LANGUAGE plpgsql STABLE
SET enable_bitmapscan = on
AS $$
BEGIN
  RETURN EXISTS (
    SELECT FROM stripe_customers s WHERE s.numbers <> '[]'
      AND lower(s.numbers::text)::jsonb @> jsonb_build_array(jsonb_build_object('number', lower(number)))
  );
END $$;
