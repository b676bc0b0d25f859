-- Returns the single characters and the pairs of adjacent characters of a text, for searches that are too short for
-- trigrams. The result may contain duplicates. An SQL function would be planned at every insert of a customer, so this
-- one is in PL/pgSQL.
CREATE OR REPLACE FUNCTION letter_pairs(searched text) RETURNS text[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  letters text[] := string_to_array(searched, NULL);
BEGIN
  RETURN letters || array(SELECT letter || coalesce(next, '') FROM unnest(letters, letters[2:]) AS pairs (letter, next));
END $$;
--> statement-breakpoint
-- Migrations run before the functions exist, so this index is not in a migration. Collation C compares bytes. A row has
-- about two hundred characters and pairs, and other collations take twice as long to sort them.
CREATE INDEX IF NOT EXISTS customers_letter_pairs ON customers USING gin (letter_pairs(search_text) COLLATE "C");
--> statement-breakpoint
-- Returns a text of `search_text` without accents and umlauts (`ä` and `ae` become `a`), apostrophes and periods.
-- Hyphens and other separators become spaces. `unaccented` in lib/customers/similar.ts does the same with a searched
-- text, for the search for similar customers.
CREATE OR REPLACE FUNCTION unaccented(searched text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN replace(replace(replace(replace(translate(
    regexp_replace(regexp_replace(normalize(searched, NFD), '[\u0300-\u036f''’.]', '', 'g'), '[-/,&+_]', ' ', 'g'),
    'øłđ', 'old'), 'æ', 'ae'), 'ae', 'a'), 'oe', 'o'), 'ue', 'u');
END $$;
--> statement-breakpoint
CREATE INDEX IF NOT EXISTS customers_unaccented ON customers USING gin (unaccented(search_text) gin_trgm_ops);
--> statement-breakpoint
-- Creates an index on each of these fields, and a function that returns the customers with a field that begins with
-- `start`, at most `most` per field. Values are normalized like `searchForm` (db/schema/customers.ts), and cut to 200
-- characters because an index entry has a maximum length. The function disables bitmap scans, because they would
-- collect all matches of a frequent beginning first.
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
