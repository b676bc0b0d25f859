-- An earlier version knew no transfers. Its parameters differ, so the new version would not replace it.
DO $$ BEGIN
  IF EXISTS (SELECT FROM pg_proc WHERE proname = 'read_snapshot' AND pronargs = 26)
  THEN DROP FUNCTION read_snapshot; END IF;
END $$;
--> statement-breakpoint
-- Returns how much of the money that Stripe collected for an invoice was refunded or lost in disputes without a credit
-- note. Another payment may replace it, although Stripe does not ask for it again.
CREATE OR REPLACE FUNCTION given_back(invoice int) RETURNS numeric LANGUAGE sql STABLE AS $$
  SELECT greatest(0, sum(p.refunded_amount) - max(i.amount_credited)) FROM invoices i JOIN payments p ON p.invoice_id = i.id
    WHERE i.id = invoice AND i.stripe_invoice_id IS NOT NULL AND p.status IN ('completed', 'refunded')
      AND (p.source = 'stripe' OR p.id = i.collected_by_payment_id)
$$;
--> statement-breakpoint
-- Reads all rows that a decision needs, starting from these keys. If a list of keys is null, its queries are skipped.
-- The function is STABLE, so all its queries see the same snapshot as the caller's statement. It uses generic plans
-- with plain index scans. Planning each call would take several times as long, and so would the joins that PostgreSQL
-- prefers when it expects more keys than there are.
CREATE OR REPLACE FUNCTION read_snapshot(
  event_ids text[], stripe_customers_by_id text[], whole text[], checkouts text[], linked int[], numbers text[],
  emails text[], subscriptions_by_id text[], subscription_ids int[], items_by_id text[], service_ids int[],
  service_numbers text[], invoices_by_id text[], "references" text[], seconds timestamptz[], objects text[],
  reported text[], refunds_by_id text[], disputes_by_id text[], payment_ids int[], intents text[],
  tasks text[], recorded text[], invoice_ids int[], money text[], merged_ids int[], transfer_names text[] DEFAULT NULL
) RETURNS text LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
  more_ids int[];
  named_ids int[];
  customer_ids int[] := linked;
  link_ids text[] := stripe_customers_by_id;
  more_links text[];
  links json;
  customers_found json;
  merged json;
  with_email json;
  services json;
  subscriptions_found json;
  items json;
  invoices_found json;
  payments_found json;
  transfers_found json;
  transfer_ids int[];
  refunds_found json;
  disputes_found json;
  tombstones json;
  paid json;
  merged_into json;
  billing json;
  told json;
  events json;
BEGIN
  IF items_by_id IS NOT NULL THEN
    SELECT array_agg(i.subscription_id) INTO more_ids FROM subscription_items i
      WHERE i.stripe_subscription_item_id = ANY (items_by_id);
    subscription_ids := subscription_ids || more_ids;
  END IF;
  IF subscriptions_by_id IS NOT NULL THEN
    SELECT array_agg(s.id) INTO more_ids FROM subscriptions s WHERE s.stripe_subscription_id = ANY (subscriptions_by_id);
    subscription_ids := subscription_ids || more_ids;
  END IF;
  IF whole IS NOT NULL THEN
    SELECT array_agg(s.id) INTO more_ids FROM subscriptions s WHERE s.stripe_customer_id = ANY (whole);
    subscription_ids := subscription_ids || more_ids;
  END IF;
  IF subscription_ids IS NOT NULL THEN
    SELECT json_agg(s ORDER BY s.id), array_agg(s.stripe_customer_id) INTO subscriptions_found, more_links
      FROM subscriptions s WHERE s.id = ANY (subscription_ids);
    link_ids := link_ids || more_links;
    SELECT json_agg(i ORDER BY i.id), array_agg(i.customer_service_id) INTO items, more_ids
      FROM subscription_items i WHERE i.subscription_id = ANY (subscription_ids);
    service_ids := service_ids || more_ids;
  END IF;
  IF service_numbers IS NOT NULL THEN
    SELECT array_agg(s.id) INTO more_ids FROM customer_services s WHERE s.service_number = ANY (service_numbers);
    service_ids := service_ids || more_ids;
  END IF;
  IF service_ids IS NOT NULL THEN
    SELECT json_agg(s ORDER BY s.id) INTO services FROM (
      SELECT v.id, v.customer_id, v.service_number, v.status, v.price, v.currency, v.billing_interval,
        v.next_billing_date, v.synced_billing_date, v.ends_on, v.synced_ends_on, v.version
      FROM customer_services v WHERE v.id = ANY (service_ids)
    ) s;
    SELECT json_agg(b ORDER BY b.subscription_id, b.until, b.customer_service_id) INTO billing FROM (
      SELECT i.customer_service_id, i.subscription_id, i.current_period_end AS until, s.cancel_at AS "endsAt"
        FROM subscription_items i JOIN subscriptions s ON s.id = i.subscription_id
        WHERE i.customer_service_id = ANY (service_ids) AND i.current_period_end IS NOT NULL
          AND (subscription_ids IS NULL OR i.subscription_id <> ALL (subscription_ids)) AND s.status <> 'cancelled'
          AND NOT EXISTS (SELECT FROM stripe_customers l WHERE l.stripe_customer_id = s.stripe_customer_id
            AND l.linked_by NOT IN ('staff', 'number'))
    ) b;
  END IF;
  IF refunds_by_id IS NOT NULL THEN
    SELECT array_agg(r.payment_id) INTO more_ids FROM refunds r WHERE r.stripe_refund_id = ANY (refunds_by_id);
    payment_ids := payment_ids || more_ids;
  END IF;
  IF disputes_by_id IS NOT NULL THEN
    SELECT array_agg(d.payment_id) INTO more_ids FROM disputes d WHERE d.stripe_dispute_id = ANY (disputes_by_id);
    payment_ids := payment_ids || more_ids;
  END IF;
  IF intents IS NOT NULL THEN
    SELECT array_agg(p.id) INTO more_ids FROM payments p WHERE p.stripe_payment_intent_id = ANY (intents);
    payment_ids := payment_ids || more_ids;
  END IF;
  IF recorded IS NOT NULL THEN
    SELECT array_agg(p.id) INTO more_ids FROM payments p WHERE p.payment_reference = ANY (recorded);
    payment_ids := payment_ids || more_ids;
    -- A new payment must not take the reference of a transfer.
    SELECT array_agg(t.id) INTO transfer_ids FROM transfers t WHERE t.reference = ANY (recorded);
  END IF;
  IF transfer_names IS NOT NULL THEN
    SELECT transfer_ids || array_agg(t.id) INTO transfer_ids FROM transfers t WHERE t.reference = ANY (transfer_names);
    SELECT array_agg(p.id) INTO more_ids FROM payments p WHERE p.transfer = ANY (transfer_names);
    payment_ids := payment_ids || more_ids;
  END IF;
  IF transfer_ids IS NOT NULL THEN
    SELECT json_agg(t ORDER BY t.id) INTO transfers_found FROM transfers t WHERE t.id = ANY (transfer_ids);
  END IF;
  IF money IS NOT NULL THEN
    -- Payments with these payment intent or charge ids, and Stripe's payments of these invoices. See
    -- lib/payments/decide-payment.ts.
    SELECT array_agg(p.id) INTO named_ids FROM (
      SELECT id FROM payments WHERE stripe_payment_intent_id = ANY (money)
      UNION ALL SELECT id FROM payments WHERE stripe_charge_id = ANY (money)
      UNION ALL SELECT id FROM payments WHERE invoice_id = ANY (invoice_ids) AND source = 'stripe'
      UNION ALL SELECT p.id FROM invoices i JOIN payments p ON p.payment_reference = i.stripe_invoice_id
        WHERE i.id = ANY (invoice_ids)
    ) p;
  END IF;
  IF payment_ids IS NOT NULL THEN
    SELECT array_agg(p.invoice_id) INTO more_ids FROM payments p WHERE p.id = ANY (payment_ids);
    invoice_ids := invoice_ids || more_ids;
  END IF;
  IF invoice_ids IS NOT NULL THEN
    SELECT json_agg(s) INTO paid FROM (
      SELECT i.id AS invoice_id, (1000 * coalesce(sum(p.amount - p.refunded_amount) FILTER (
          WHERE p.status = 'completed'), 0))::bigint AS "all",
        (1000 * coalesce(sum(p.amount - p.refunded_amount) FILTER (
          WHERE p.status = 'completed' AND p.source <> 'stripe' AND p.payment_reference !~ '^(pi|ch|py)_'
            AND p.id IS DISTINCT FROM i.collected_by_payment_id), 0))::bigint AS "offStripe",
        (1000 * given_back(i.id))::bigint AS back
      FROM invoices i JOIN payments p ON p.invoice_id = i.id WHERE i.id = ANY (invoice_ids) GROUP BY i.id
    ) s;
  END IF;
  IF refunds_by_id IS NOT NULL OR payment_ids IS NOT NULL THEN
    SELECT json_agg(r ORDER BY r.id) INTO refunds_found FROM (
      SELECT * FROM refunds WHERE stripe_refund_id = ANY (refunds_by_id)
      UNION ALL SELECT * FROM refunds WHERE payment_id = ANY (payment_ids)
        AND (stripe_refund_id = ANY (refunds_by_id)) IS NOT TRUE
    ) r;
  END IF;
  IF disputes_by_id IS NOT NULL OR payment_ids IS NOT NULL THEN
    SELECT json_agg(d ORDER BY d.id) INTO disputes_found FROM (
      SELECT * FROM disputes WHERE stripe_dispute_id = ANY (disputes_by_id)
      UNION ALL SELECT * FROM disputes WHERE payment_id = ANY (payment_ids)
        AND (stripe_dispute_id = ANY (disputes_by_id)) IS NOT TRUE
    ) d;
  END IF;
  IF invoices_by_id IS NOT NULL OR invoice_ids IS NOT NULL THEN
    SELECT json_agg(i ORDER BY i.id), array_agg(i.stripe_customer_id) INTO invoices_found, more_links FROM (
      SELECT * FROM invoices WHERE stripe_invoice_id = ANY (invoices_by_id)
      UNION ALL SELECT * FROM invoices WHERE id = ANY (invoice_ids)
        AND (stripe_invoice_id = ANY (invoices_by_id)) IS NOT TRUE
    ) i;
    link_ids := link_ids || more_links;
  END IF;
  IF linked IS NOT NULL THEN
    SELECT array_agg(l.stripe_customer_id) INTO more_links FROM stripe_customers l WHERE l.customer_id = ANY (linked);
    link_ids := link_ids || more_links;
  END IF;
  IF link_ids IS NOT NULL THEN
    SELECT json_agg(l ORDER BY l.stripe_customer_id), array_agg(l.customer_id) INTO links, more_ids
      FROM stripe_customers l WHERE l.stripe_customer_id = ANY (link_ids);
    customer_ids := customer_ids || more_ids;
  END IF;
  IF numbers IS NOT NULL THEN
    SELECT array_agg(c.id) INTO more_ids FROM customers c WHERE lower(c.customer_number) = ANY (numbers);
    customer_ids := customer_ids || more_ids;
    SELECT json_agg(m), array_agg(m.customer_id) INTO merged, more_ids FROM (
      SELECT lower(m.customer_number) AS number, m.customer_id FROM merged_customers m
        WHERE lower(m.customer_number) = ANY (numbers)
    ) m;
    customer_ids := customer_ids || more_ids;
  END IF;
  IF emails IS NOT NULL THEN
    SELECT json_agg(c), array_agg(c.id) INTO with_email, more_ids FROM (
      SELECT c.id, lower(c.email) AS email FROM customers c WHERE lower(c.email) = ANY (emails) ORDER BY c.id
    ) c;
    customer_ids := customer_ids || more_ids;
  END IF;
  IF customer_ids IS NOT NULL THEN
    SELECT json_agg(c ORDER BY c.id) INTO customers_found FROM (
      SELECT c.id, c.customer_number, c.email, c.last_name, c.phone, c.street, c.postal_code, c.city, c.country,
        c.erased_at, c.version
      FROM customers c WHERE c.id = ANY (customer_ids)
    ) c;
  END IF;
  IF "references" IS NOT NULL THEN
    -- Payments of these Stripe invoices that API clients or staff recorded under a payment intent or charge id. See
    -- lib/payments/stripe-payment.ts.
    SELECT array_agg(p.id) INTO more_ids FROM invoices i JOIN payments p ON p.invoice_id = i.id
      WHERE i.stripe_invoice_id = ANY ("references") AND p.payment_reference ~ '^(pi|ch|py)_';
    named_ids := named_ids || more_ids;
  END IF;
  IF "references" IS NOT NULL OR payment_ids IS NOT NULL OR named_ids IS NOT NULL THEN
    SELECT json_agg(p ORDER BY p.id) INTO payments_found FROM (
      SELECT * FROM payments WHERE payment_reference = ANY ("references")
      UNION ALL SELECT * FROM payments WHERE id = ANY (payment_ids || named_ids)
        AND (payment_reference = ANY ("references")) IS NOT TRUE
    ) p;
  END IF;
  IF "references" IS NOT NULL THEN
    SELECT json_agg(t.reference) INTO tombstones FROM payment_tombstones t WHERE t.reference = ANY ("references");
  END IF;
  IF merged_ids IS NOT NULL THEN
    SELECT json_agg(m) INTO merged_into FROM (
      SELECT m.id, m.customer_id FROM merged_customers m WHERE m.id = ANY (merged_ids)
    ) m;
  END IF;
  IF tasks IS NOT NULL THEN
    SELECT json_agg(wanted.key) INTO told FROM unnest(tasks) AS wanted(key) WHERE EXISTS (
      SELECT FROM staff_tasks t WHERE t.kind = split_part(wanted.key, ' ', 1)
        AND t.subject = substr(wanted.key, strpos(wanted.key, ' ') + 1)
        AND coalesce(t.done_by NOT IN ('Stripe', 'a later change'), true)
    );
  END IF;
  IF objects IS NOT NULL OR reported IS NOT NULL OR checkouts IS NOT NULL THEN
    SELECT json_agg(e ORDER BY e.id, e.checkout NULLS FIRST) INTO events FROM (
      SELECT e.id, e.outcome, e.attempts, e.payload, e.failure_reason IS NULL AS "isStorable", NULL::jsonb AS checkout
        FROM stripe_events e WHERE e.object_id = ANY (objects) AND e.stripe_created = ANY (seconds)
      UNION ALL SELECT e.id, e.outcome, e.attempts, e.payload, e.failure_reason IS NULL, NULL FROM stripe_events e
        WHERE e.object_id = ANY (reported) AND e.type LIKE 'customer.subscription.%'
          AND e.outcome IN ('processed', 'stale')
      UNION ALL SELECT e.id, e.outcome, e.attempts, e.payload, e.failure_reason IS NULL,
          e.checkout || jsonb_build_object('completed_at', e.stripe_created, 'stripe_customer_id', e.stripe_customer_id)
        FROM stripe_events e
        WHERE e.stripe_customer_id = ANY (checkouts) AND e.type = 'checkout.session.completed'
    ) e;
  END IF;
  RETURN json_build_object(
    'links', links, 'customers', customers_found, 'merged', merged, 'withEmail', with_email,
    'services', services,
    'subscriptions', subscriptions_found, 'items', items, 'invoices', invoices_found, 'payments', payments_found,
    'transfers', transfers_found,
    'refunds', refunds_found, 'disputes', disputes_found, 'tombstones', tombstones, 'paid', paid,
    'mergedInto', merged_into, 'told', told,
    'billing', billing, 'events', events, 'outcomes', (
      -- Look up each id separately. While statistics show few events, one lookup of all ids would read the whole index.
      SELECT json_agg(o) FROM unnest(event_ids) AS wanted(id) CROSS JOIN LATERAL (
        SELECT e.id, e.outcome, e.attempts FROM stripe_events e WHERE e.id = wanted.id LIMIT 1
      ) o
    )
  );
END $$;
