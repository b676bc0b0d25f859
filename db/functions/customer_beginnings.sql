-- Customers of whom a field begins with a text, at most so many of each field: by an index of each, in the form of
-- `searchForm` (db/schema/customers.ts). An index takes no text of any length.
--
-- Where many begin with it, a bitmap would be made of all of them first: the function goes without.
DO $make$
DECLARE
  name text;
  field text;
  form text;
  parts text[] := '{}';
BEGIN
  FOR name, field IN VALUES
    ('number', 'customer_number'), ('email', 'email'), ('last_name', 'last_name'), ('company', 'company'),
    ('full_name', 'coalesce(first_name, '''') || '' '' || coalesce(last_name, '''')')
  LOOP
    form := format(
      'replace(lower(lower(normalize(left(%s, 200))) COLLATE "und-x-icu") COLLATE "default", ''ß'', ''ss'')', field);
    EXECUTE format('CREATE INDEX IF NOT EXISTS customers_%s_beginning ON customers ((%s) text_pattern_ops)', name, form);
    parts := parts || format(
      '(SELECT %L, c.id FROM customers c WHERE %s ~>=~ start AND %2$s ~<~ (start || chr(1114111)) LIMIT most)', name, form);
  END LOOP;
  EXECUTE format($function$
    CREATE OR REPLACE FUNCTION customers_beginning(start text, most int) RETURNS TABLE (field text, customer_id int)
    LANGUAGE plpgsql STABLE SET enable_bitmapscan = off SET enable_seqscan = off SET plan_cache_mode = force_generic_plan
    AS $body$ BEGIN RETURN QUERY %s; END $body$
  $function$, array_to_string(parts, ' UNION ALL '));
END $make$;
