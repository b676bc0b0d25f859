-- The plan with ids for its new rows: `fresh` names them, "-1 subscriptions", and the plan has them as "\u0001-1".
CREATE OR REPLACE FUNCTION with_new_ids(plan text, fresh jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  entry text;
BEGIN
  FOR entry IN SELECT jsonb_array_elements_text(fresh) LOOP
    plan := replace(plan, '"\u0001' || split_part(entry, ' ', 1) || '"',
      nextval((split_part(entry, ' ', 2) || '_id_seq')::regclass)::text);
  END LOOP;
  RETURN plan::jsonb;
END $$;
