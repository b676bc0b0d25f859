-- Locks what an event of a subscription changes, always in this order: the Stripe customer and its link, the
-- subscription, the services of its items. Each statement of it sees what those it waited for have written.
-- Where versions are expected and others are found, it fails like every transaction that comes too late.
CREATE OR REPLACE FUNCTION lock_held(customer text, subscription text, expected text DEFAULT NULL) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  link_version text;
  held_id int;
  row_version text;
  item_versions text;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended(customer, 0));
  SELECT l.xmin INTO link_version FROM stripe_customers l WHERE l.stripe_customer_id = customer FOR UPDATE;
  SELECT s.id, s.xmin INTO held_id, row_version
    FROM subscriptions s WHERE s.stripe_subscription_id = subscription FOR UPDATE;
  -- Whoever changes an item holds one of the locks above.
  SELECT string_agg(concat_ws(' ', i.id, i.xmin, c.id, c.xmin), ',' ORDER BY i.id) INTO item_versions FROM (
    SELECT i.id, i.xmin, i.customer_service_id FROM subscription_items i
      WHERE i.subscription_id = held_id ORDER BY i.customer_service_id
  ) i LEFT JOIN LATERAL (
    SELECT c.id, c.xmin FROM customer_services c WHERE c.id = i.customer_service_id FOR UPDATE
  ) c ON true;
  IF expected <> concat_ws('; ', coalesce(link_version, ''), coalesce(row_version, ''), coalesce(item_versions, '')) THEN
    RAISE EXCEPTION 'what was read has changed meanwhile' USING ERRCODE = 'serialization_failure';
  END IF;
END $$;
