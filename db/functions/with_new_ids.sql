-- The plan with ids for its new rows, which are of these tables, in this order. Where there are any, the plan is a
-- template for `format`: the first id stands at %1$s.
CREATE OR REPLACE FUNCTION with_new_ids(plan text, tables text[]) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
  IF tables = '{}' THEN RETURN plan::jsonb; END IF;
  RETURN format(plan, VARIADIC ARRAY(SELECT nextval((name || '_id_seq')::regclass) FROM unnest(tables) AS name))::jsonb;
END $$;
