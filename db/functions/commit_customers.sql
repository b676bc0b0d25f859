-- What commit_plan writes of customers and of the Stripe customers that are linked to them.
CREATE OR REPLACE FUNCTION commit_customers(plan jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  written int;
BEGIN
  IF plan ? 'customersInserted' THEN
    PERFORM insert_created_customer(made, plan -> 'absentNumbers')
      FROM jsonb_array_elements(plan -> 'customersInserted') AS made;
  END IF;
  IF plan ? 'linksInserted' THEN
    INSERT INTO stripe_customers (
      stripe_customer_id, customer_id, linked_by, number_source, number_reported_at, number_reported_by, numbers,
      details, recheck_at
    ) SELECT
      stripe_customer_id, customer_id, linked_by, number_source, number_reported_at, number_reported_by, numbers,
      details, recheck_at
      FROM jsonb_populate_recordset(NULL::stripe_customers, plan -> 'linksInserted');
  END IF;
  IF plan ? 'linksUpdated' THEN
    UPDATE stripe_customers t SET
      customer_id = r.customer_id, linked_by = r.linked_by, number_source = r.number_source,
      number_reported_at = r.number_reported_at, number_reported_by = r.number_reported_by, numbers = r.numbers,
      details = r.details, recheck_at = r.recheck_at, updated_at = now(), version = t.version + 1
      FROM jsonb_populate_recordset(NULL::stripe_customers, plan -> 'linksUpdated') r
      WHERE t.stripe_customer_id = r.stripe_customer_id AND t.version = r.version;
    GET DIAGNOSTICS written = ROW_COUNT;
    IF written < jsonb_array_length(plan -> 'linksUpdated') THEN RAISE SQLSTATE '40001'; END IF;
  END IF;
  -- An erased customer keeps the Stripe customers that it had, as they were marked, and gets no others.
  IF plan ?| ARRAY['linksInserted', 'linksUpdated'] AND EXISTS (
    SELECT FROM customers c WHERE c.erased_at IS NOT NULL AND c.id = ANY (ARRAY(
      SELECT (l ->> 'customer_id')::int FROM jsonb_array_elements(
        coalesce(plan -> 'linksInserted', '[]'::jsonb) || coalesce(plan -> 'linksUpdated', '[]'::jsonb)
      ) AS l
    ))
  ) THEN RAISE SQLSTATE '40001'; END IF;
  IF plan ? 'customersUpdated' THEN
    UPDATE customers t SET
      last_name = r.last_name, email = r.email, phone = r.phone,
      street = r.street, postal_code = r.postal_code, city = r.city,
      country = r.country, version = t.version + 1,
      updated_at = CASE WHEN t.updated_at = t.created_at THEN t.created_at ELSE now() END
      FROM jsonb_populate_recordset(NULL::customers, plan -> 'customersUpdated') r
      WHERE t.id = r.id AND t.version = r.version;
    GET DIAGNOSTICS written = ROW_COUNT;
    IF written < jsonb_array_length(plan -> 'customersUpdated') THEN RAISE SQLSTATE '40001'; END IF;
  END IF;
END $$;
