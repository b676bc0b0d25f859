-- What a service adds to the sums: its price, on the day on which it renews, unless it has ended by then.
CREATE OR REPLACE FUNCTION sum_of_service(s customer_services) RETURNS SETOF sums LANGUAGE sql IMMUTABLE AS $$
  SELECT 'service_renewals', s.next_billing_date, s.currency, 1::bigint, s.price::numeric(24,3)
  WHERE s.status = 'active' AND s.next_billing_date IS NOT NULL
    AND (s.ends_on IS NULL OR s.next_billing_date < s.ends_on)
$$;
