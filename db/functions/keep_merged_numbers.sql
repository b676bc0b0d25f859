-- The number of a customer that was merged into another one is given to nobody. After the insert, which waits for a
-- merge under way: then that can be seen.
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
