-- What a payment adds to the sums: its amount, on its day, also once it was refunded. Of one that was noted as refunded
-- without a refund that says how, nothing.
CREATE OR REPLACE FUNCTION sum_of_payment(p payments) RETURNS SETOF sums LANGUAGE sql IMMUTABLE AS $$
  SELECT 'received', p.payment_date, p.currency, 1::bigint,
    (CASE p.status WHEN 'completed' THEN p.amount ELSE p.refunded_amount END)::numeric(24,3)
  WHERE p.status = 'completed' OR (p.status = 'refunded' AND p.refunded_amount > 0)
$$;
