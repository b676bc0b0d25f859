-- What makes two accounting entries the same fact.
CREATE OR REPLACE FUNCTION entry_key(
  record text, invoice_id int, payment_id int, original_date date, tax_rate numeric, net numeric, tax numeric,
  gross numeric, currency text
) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT concat_ws('|', record, invoice_id, coalesce(payment_id, 0), original_date,
    coalesce(tax_rate::numeric(15, 3)::text, '-'), coalesce(net::numeric(15, 3)::text, '-'),
    coalesce(tax::numeric(15, 3)::text, '-'), gross::numeric(15, 3), currency)
$$;
