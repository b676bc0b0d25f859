-- Moves a transfer with the Stripe customer whose invoices it pays.
-- Functions: 24dd065d7072612e0202c0f7a231774218c2a5118babbcab9d8f906b54638863
-- Earlier moves of Stripe customers left the transfers behind whose payments all moved.
UPDATE transfers t SET customer_id = p.customer_id, version = t.version + 1, updated_at = now()
  FROM (
    SELECT transfer, min(customer_id) AS customer_id FROM payments WHERE transfer IS NOT NULL
      GROUP BY transfer HAVING min(customer_id) = max(customer_id)
  ) p
  WHERE p.transfer = t.reference AND p.customer_id <> t.customer_id;
