-- One more than the highest K number that a customer has, or had before it was merged into another one.
CREATE OR REPLACE FUNCTION next_customer_number() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  RETURN 'K' || coalesce(greatest(
    (SELECT max(substring(customer_number FROM '^[Kk](\d{1,15})$')::bigint) FROM customers),
    (SELECT max(substring(customer_number FROM '^[Kk](\d{1,15})$')::bigint) FROM merged_customers)
  ), 10000) + 1;
END $$;
