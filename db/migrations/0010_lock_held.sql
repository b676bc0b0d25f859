-- Locks what an event of a subscription changes, always in this order, and tells the versions that then are
-- there. Each statement of it sees what those it waited for have written.
CREATE FUNCTION lock_held(customer text, subscription text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  link_version text;
  held_id int;
  row_version text;
  item_versions text;
  service_ids int[];
  service_versions text;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended(customer, 0));
  SELECT l.xmin INTO link_version FROM stripe_customers l WHERE l.stripe_customer_id = customer FOR UPDATE;
  SELECT s.id, s.xmin INTO held_id, row_version
    FROM subscriptions s WHERE s.stripe_subscription_id = subscription FOR UPDATE;
  -- Whoever changes an item holds one of the locks above.
  SELECT string_agg(concat_ws(' ', i.id, i.xmin), ',' ORDER BY i.id), array_agg(i.customer_service_id)
    INTO item_versions, service_ids FROM subscription_items i WHERE i.subscription_id = held_id;
  SELECT string_agg(concat_ws(' ', c.id, c.xmin), ',') INTO service_versions FROM (
    SELECT c.id, c.xmin FROM customer_services c WHERE c.id = ANY (service_ids) ORDER BY c.id FOR UPDATE
  ) c;
  RETURN concat_ws('; ', coalesce(link_version, ''), coalesce(row_version, ''),
    coalesce(item_versions, ''), coalesce(service_versions, ''));
END $$;
