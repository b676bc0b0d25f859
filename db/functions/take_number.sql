-- The next number of a series (db/schema/invoices.ts) in a year; nobody else takes one before the transaction ends.
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
