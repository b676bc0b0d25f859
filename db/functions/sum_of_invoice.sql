-- What an invoice adds to the sums: what it has still due, while it is sent or overdue.
CREATE OR REPLACE FUNCTION sum_of_invoice(i invoices) RETURNS SETOF sums LANGUAGE sql IMMUTABLE AS $$
  SELECT i.status::text, '-infinity'::date, i.currency, 1::bigint, i.amount_due::numeric(24,3)
  WHERE i.status IN ('sent', 'overdue')
$$;
