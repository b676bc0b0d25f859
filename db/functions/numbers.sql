-- Adds all number series with their default formats. Keeps the formats that staff have changed.
INSERT INTO number_series (name, prefix, with_year, width) VALUES
  ('invoice', '', true, 6),
  ('credit_note', 'GS-', true, 4),
  ('offer', 'AN-', true, 4),
  ('order_confirmation', 'AB-', true, 4),
  ('service', 'S', false, 5)
  ON CONFLICT (name) DO NOTHING;
--> statement-breakpoint
-- Returns the next number of a series (db/schema/invoices.ts). `at_year` matters only if the series has the year in its
-- numbers. Locks the series until the transaction ends.
CREATE OR REPLACE FUNCTION take_number(series text, at_year int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  s number_series;
  start text;
  source text;
  last_count bigint;
BEGIN
  SELECT * INTO STRICT s FROM number_series WHERE name = series FOR UPDATE;
  start := s.prefix || CASE WHEN s.with_year THEN at_year || '-' ELSE '' END;
  source := CASE series
    WHEN 'invoice' THEN 'SELECT number FROM invoices'
    WHEN 'credit_note' THEN 'SELECT number FROM credit_notes'
    WHEN 'service' THEN 'SELECT service_number AS number FROM customer_services'
    ELSE 'SELECT document_number AS number FROM sales_documents' END;
  EXECUTE format('SELECT substr(number, length($1) + 1)::bigint FROM (%s) numbered
      WHERE number ~>=~ ($1 || repeat(''0'', $2)) AND number ~<=~ ($1 || repeat(''9'', $2))
        AND length(number) = length($1) + $2 AND substr(number, length($1) + 1) ~ ''^[0-9]+$''
      ORDER BY number USING ~>~ LIMIT 1', source)
    INTO last_count USING start, s.width;
  last_count := greatest(coalesce(last_count, 0) + 1, s.first_count);
  IF length(last_count::text) > s.width THEN RAISE EXCEPTION 'the series % has no numbers left', series; END IF;
  RETURN start || lpad(last_count::text, s.width, '0');
END $$;
--> statement-breakpoint
-- Returns whether Stripe has named this customer number, in any letter case. The settings make its query use an index,
-- with a plan that each session makes once. commit_plan turns bitmap scans off, but this index allows no other scan.
CREATE OR REPLACE FUNCTION is_named_number(number text) RETURNS boolean LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = on
AS $$
BEGIN
  RETURN EXISTS (
    SELECT FROM stripe_customers s WHERE s.numbers <> '[]'
      AND lower(s.numbers::text)::jsonb @> jsonb_build_array(jsonb_build_object('number', lower(number)))
  );
END $$;
--> statement-breakpoint
-- Returns one more than the highest K number of all customers, including merged ones, or K10001 if no customer has one.
-- Skips numbers that Stripe has named, because they are meant for other customers.
CREATE OR REPLACE FUNCTION next_customer_number() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  serial bigint := coalesce(greatest(
    (SELECT max(substring(customer_number FROM '^[Kk](\d{1,15})$')::bigint) FROM customers),
    (SELECT max(substring(customer_number FROM '^[Kk](\d{1,15})$')::bigint) FROM merged_customers)
  ), 10000) + 1;
BEGIN
  WHILE is_named_number('K' || serial) LOOP serial := serial + 1; END LOOP;
  RETURN 'K' || serial;
END $$;
--> statement-breakpoint
-- Rejects the number of a merged customer. While a customer is being merged, a write of its number waits for the end of
-- the merge, so the check runs after the write in order to see the merge.
DO $keep$ BEGIN
  CREATE OR REPLACE FUNCTION refuse_merged_number() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF EXISTS (SELECT FROM merged_customers WHERE lower(customer_number) = lower(NEW.customer_number)) THEN
      RAISE unique_violation USING MESSAGE = 'the number is that of a customer that was merged into another one';
    END IF;
    RETURN NULL;
  END $$;
  CREATE OR REPLACE TRIGGER refuse_merged_number AFTER INSERT OR UPDATE OF customer_number ON customers
    FOR EACH ROW EXECUTE FUNCTION refuse_merged_number();
END $keep$;
