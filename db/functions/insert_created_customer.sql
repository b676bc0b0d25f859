CREATE OR REPLACE FUNCTION insert_created_customer(made jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  LOOP
    INSERT INTO customers (id, customer_number, last_name, email, phone, street, postal_code, city, country)
      OVERRIDING SYSTEM VALUE SELECT r.id, next_customer_number(), r.last_name, r.email, r.phone, r.street,
        r.postal_code, r.city, r.country
      FROM jsonb_populate_record(NULL::customers, made) r
      ON CONFLICT (customer_number) DO NOTHING;
    EXIT WHEN FOUND;
  END LOOP;
END $$;
