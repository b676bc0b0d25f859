-- Returns the letters and letter pairs of a text, for searches that are too short for trigrams. May contain duplicates.
-- It is not an SQL function, because PostgreSQL would plan that for each statement that inserts a customer.
CREATE OR REPLACE FUNCTION letter_pairs(searched text) RETURNS text[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  letters text[] := string_to_array(searched, NULL);
BEGIN
  RETURN letters || array(SELECT letter || coalesce(next, '') FROM unnest(letters, letters[2:]) AS pairs (letter, next));
END $$;
--> statement-breakpoint
-- Not in the migrations, because they run before the functions exist. The collation compares bytes: a row has about two
-- hundred letter pairs, and another collation sorts them twice as slowly.
CREATE INDEX IF NOT EXISTS customers_letter_pairs ON customers USING gin (letter_pairs(search_text) COLLATE "C");
--> statement-breakpoint
-- Returns the search form of a text without accents, umlauts (also written with an e) and punctuation, for the search for
-- similar customers. `unaccented` in lib/customers/similar.ts does the same with a query.
CREATE OR REPLACE FUNCTION unaccented(searched text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN replace(replace(replace(replace(translate(
    regexp_replace(regexp_replace(normalize(searched, NFD), '[\u0300-\u036f''’.]', '', 'g'), '[-/,&+_]', ' ', 'g'),
    'øłđ', 'old'), 'æ', 'ae'), 'ae', 'a'), 'oe', 'o'), 'ue', 'u');
END $$;
--> statement-breakpoint
CREATE INDEX IF NOT EXISTS customers_unaccented ON customers USING gin (unaccented(search_text) gin_trgm_ops);
--> statement-breakpoint
-- Returns customers with a field that begins with a text, at most `most` per field. Each field has an index, in the
-- form of `searchForm` (db/schema/customers.ts). Values are cut, because an index entry has a maximum length.
--
-- A bitmap scan would first collect all matches of a frequent beginning, so the function disables it.
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
