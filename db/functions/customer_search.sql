-- The letters of a text, and each two that follow one another, some of them twice: for texts too short for trigrams.
-- Not in SQL: PostgreSQL would plan it for each statement that inserts a customer.
CREATE OR REPLACE FUNCTION letter_pairs(searched text) RETURNS text[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  letters text[] := string_to_array(searched, NULL);
BEGIN
  RETURN letters || array(SELECT letter || coalesce(next, '') FROM unnest(letters, letters[2:]) AS pairs (letter, next));
END $$;
--> statement-breakpoint
-- Not in the migrations, which run before there are functions. By bytes: a row has some two hundred of them, which
-- another collation sorts twice as slowly.
CREATE INDEX IF NOT EXISTS customers_letter_pairs ON customers USING gin (letter_pairs(search_text) COLLATE "C");
--> statement-breakpoint
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
