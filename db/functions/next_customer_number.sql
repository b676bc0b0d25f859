-- One more than the highest K number that a customer has, or had before it was merged into another one; none that
-- Stripe has named, which is somebody else's.
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
