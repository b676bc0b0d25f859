-- The plan with ids for its new rows: `fresh` names them, "-1 subscriptions", and the plan has them as "\u0001-1".
CREATE OR REPLACE FUNCTION with_new_ids(plan text, fresh text[]) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  entry text;
BEGIN
  FOREACH entry IN ARRAY fresh LOOP
    plan := replace(plan, '"\u0001' || split_part(entry, ' ', 1) || '"',
      nextval(pg_get_serial_sequence(split_part(entry, ' ', 2), 'id'))::text);
  END LOOP;
  RETURN plan::jsonb;
END $$;
