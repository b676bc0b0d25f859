-- The plan with ids for its new rows, which are of these tables, in this order. Where one of them stands, the plan has
-- a chr(1), and `places` says which one it is.
CREATE OR REPLACE FUNCTION with_new_ids(plan text, places int[], tables text[]) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  ids bigint[];
BEGIN
  IF tables = '{}' THEN RETURN plan::jsonb; END IF;
  ids := ARRAY(SELECT nextval((name || '_id_seq')::regclass) FROM unnest(tables) AS name);
  RETURN (
    SELECT string_agg(piece || coalesce(ids[places[at]]::text, ''), '' ORDER BY at)
    FROM unnest(string_to_array(plan, chr(1))) WITH ORDINALITY AS pieces(piece, at)
  )::jsonb;
END $$;
