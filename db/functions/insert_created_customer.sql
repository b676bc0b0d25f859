-- Gives it the next number that nobody else is about to take or to name: whoever creates customers at the same time
-- does not wait for the others to commit. A number may have been taken since it was looked for, as two unique indexes
-- say; then it looks again. `named`: the numbers, in lower case, that this commit names and nobody has.
CREATE OR REPLACE FUNCTION insert_created_customer(made jsonb, named jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  serial bigint;
BEGIN
  FOR attempt IN 1..100 LOOP
    serial := substr(next_customer_number(), 2)::bigint;
    LOOP
      IF NOT coalesce(named ? ('k' || serial), false)
        AND pg_try_advisory_xact_lock(hashtextextended('customer k' || serial, 0)) THEN
        -- Asked anew: a commit that named it may have ended just before it could be locked.
        EXIT WHEN NOT is_named_number('K' || serial);
      END IF;
      serial := serial + 1;
    END LOOP;
    INSERT INTO customers (id, customer_number, last_name, email, phone, street, postal_code, city, country)
      OVERRIDING SYSTEM VALUE SELECT r.id, 'K' || serial, r.last_name, r.email, r.phone, r.street,
        r.postal_code, r.city, r.country
      FROM jsonb_populate_record(NULL::customers, made) r
      ON CONFLICT DO NOTHING;
    IF FOUND THEN RETURN; END IF;
  END LOOP;
  RAISE unique_violation;
END $$;
