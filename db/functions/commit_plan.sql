-- Earlier versions of commit_plan returned nothing. PostgreSQL cannot replace a function if its result type changes.
DO $$ BEGIN
  IF EXISTS (SELECT FROM pg_proc WHERE oid = to_regprocedure('commit_plan(jsonb, text[])') AND prorettype = 'void'::regtype)
  THEN DROP FUNCTION commit_plan(jsonb, text[]); END IF;
END $$;
--> statement-breakpoint
-- Closes tasks about payments if the written invoices and payments have removed their reason. All three kinds close
-- if the payment was deleted. The kinds except `payment_differs` also close if Stripe does not manage the invoice, if
-- Stripe counts the payment, if the payment is no longer completed or was refunded in full, or if the conditions of
-- toMoneyTask no longer hold. The tests' closeSettledTasks repeats these conditions. Runs in the transaction of the
-- change, so that no task outlives its reason.
CREATE OR REPLACE FUNCTION close_settled_tasks(written_invoices int[], written_payments int[]) RETURNS void LANGUAGE plpgsql
AS $$ BEGIN
  WITH concerned AS (
    SELECT unnest(written_payments) AS id
    UNION SELECT id FROM payments WHERE invoice_id = ANY (written_invoices)
    UNION SELECT p.id FROM payments p JOIN payments w ON w.invoice_id = p.invoice_id WHERE w.id = ANY (written_payments)
  ), open_tasks AS (
    SELECT t.id, t.kind, t.entity_id FROM concerned c JOIN staff_tasks t ON t.entity = 'payment' AND t.entity_id = c.id
    WHERE t.done_at IS NULL AND t.kind IN ('payment_differs', 'payment_exceeds_due', 'payment_not_counted')
  ), settled AS (
    SELECT t.id FROM open_tasks t
    LEFT JOIN payments p ON p.id = t.entity_id
    LEFT JOIN invoices i ON i.id = p.invoice_id
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(o.amount - o.refunded_amount), 0) AS recorded FROM payments o
      WHERE o.status = 'completed' AND o.source <> 'stripe' AND (o.id = p.id
        OR o.invoice_id = p.invoice_id AND o.payment_reference !~ '^(pi|ch|py)_' AND p.payment_reference !~ '^(pi|ch|py)_')
        AND o.invoice_id = p.invoice_id AND o.id IS DISTINCT FROM i.collected_by_payment_id
    ) of_invoice
    WHERE p.id IS NULL OR t.kind <> 'payment_differs' AND (
      i.stripe_invoice_id IS NULL OR i.collected_by_payment_id = p.id OR p.status <> 'completed' OR p.amount <= p.refunded_amount
      OR recorded <= coalesce(i.amount_off_stripe, 0) + given_back(i.id) + CASE t.kind WHEN 'payment_exceeds_due' THEN i.amount_due ELSE 0 END
      OR t.kind = 'payment_not_counted' AND p.payment_reference ~ '^(pi|ch|py)_')
  )
  UPDATE staff_tasks t SET done_at = now(), done_by = 'a later change', updated_at = now()
    FROM settled s WHERE t.id = s.id AND t.done_at IS NULL;
END $$;
--> statement-breakpoint
-- Writes all changes of a plan or none. Fails with 40001 if a row or a lookup on which the plan is based has changed
-- since it was read. A list of changes is absent rather than empty. Table names have no schema, so that a dry run can
-- use temporary tables instead. Uses generic plans and indexes, like read_snapshot. Returns the timestamp of written
-- rows and the new ids.
CREATE OR REPLACE FUNCTION commit_plan(plan jsonb, payloads text[]) RETURNS text LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
  entry jsonb;
  written int;
  at text := to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
BEGIN
  -- A retry has locked its Stripe customer before it read. A first attempt may wait here and then fail its checks.
  FOR entry IN SELECT jsonb_array_elements(plan -> 'keys') LOOP
    PERFORM pg_advisory_xact_lock(hashtextextended(entry #>> '{}', 0));
  END LOOP;
  -- When staff or an import give a customer a number, their transaction takes this lock exclusively and then looks for
  -- links that name the number. It therefore sees the links of this plan, or this plan sees the number.
  IF plan ? 'absentNumbers' THEN
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('customer numbers', 0));
    -- Prevent concurrent commits from assigning one of these numbers to a customer that they create.
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('customer ' || number, 0))
      FROM jsonb_array_elements_text(plan -> 'absentNumbers') AS number ORDER BY number;
  END IF;
  IF plan ? 'absentNumbers' AND (EXISTS (
    SELECT FROM jsonb_array_elements_text(plan -> 'absentNumbers') AS number
      JOIN customers c ON lower(c.customer_number) = number
  ) OR EXISTS (
    SELECT FROM jsonb_array_elements_text(plan -> 'absentNumbers') AS number
      JOIN merged_customers m ON lower(m.customer_number) = number
  )) THEN RAISE SQLSTATE '40001'; END IF;
  IF plan ? 'emails' AND EXISTS (
    SELECT FROM jsonb_to_recordset(plan -> 'emails') AS e(email text, ids int[])
      WHERE e.ids <> ARRAY(SELECT c.id FROM customers c WHERE lower(c.email) = e.email ORDER BY c.id)
  ) THEN RAISE SQLSTATE '40001'; END IF;
  -- Raise the row versions of links that the decision is about but does not change, so that concurrent decisions
  -- conflict.
  IF plan ? 'touched' THEN
    UPDATE stripe_customers t SET version = t.version + 1
      FROM jsonb_populate_recordset(NULL::stripe_customers, plan -> 'touched') r
      WHERE t.stripe_customer_id = r.stripe_customer_id AND t.version = r.version;
    GET DIAGNOSTICS written = ROW_COUNT;
    IF written < jsonb_array_length(plan -> 'touched') THEN RAISE SQLSTATE '40001'; END IF;
  END IF;
  IF plan ?| ARRAY['invoicesLocked', 'handedOver', 'moves'] THEN
    PERFORM lock_invoices(plan);
  END IF;
  IF plan ? 'invoicesSeen' AND EXISTS (
    SELECT FROM jsonb_to_recordset(plan -> 'invoicesSeen') AS s(id int, version int)
      LEFT JOIN invoices i ON i.id = s.id WHERE i.version IS DISTINCT FROM s.version
  ) THEN RAISE SQLSTATE '40001'; END IF;
  IF plan ?| ARRAY['customersInserted', 'linksInserted', 'linksUpdated', 'customersUpdated'] THEN
    PERFORM commit_customers(plan);
  END IF;
  IF plan ?| ARRAY['servicesUpdated', 'subscriptionsInserted', 'itemsDeleted', 'itemsUpdated',
    'itemsInserted', 'handedOver', 'subscriptionsDeleted', 'subscriptionsUpdated'] THEN
    PERFORM commit_subscriptions(plan);
  END IF;
  IF plan ?| ARRAY['invoicesInserted', 'invoicesUpdated', 'invoicesSettled', 'moves', 'transfersInserted',
    'transfersUpdated', 'paymentsInserted', 'paymentsUpdated', 'creditNotes'] THEN
    PERFORM commit_invoices(plan);
  END IF;
  IF plan ?| ARRAY['refundsDeleted', 'refundsUpdated', 'refundsInserted', 'disputesUpdated', 'disputesInserted'] THEN
    PERFORM commit_money_back(plan);
  END IF;
  IF plan ? 'paymentsDeleted' THEN
    DELETE FROM payments t USING jsonb_populate_recordset(NULL::payments, plan -> 'paymentsDeleted') r
      WHERE t.id = r.id AND t.version = r.version;
    GET DIAGNOSTICS written = ROW_COUNT;
    IF written < jsonb_array_length(plan -> 'paymentsDeleted') THEN RAISE SQLSTATE '40001'; END IF;
  END IF;
  IF plan ? 'transfersDeleted' THEN
    DELETE FROM transfers t USING jsonb_populate_recordset(NULL::transfers, plan -> 'transfersDeleted') r
      WHERE t.id = r.id AND t.version = r.version;
    GET DIAGNOSTICS written = ROW_COUNT;
    IF written < jsonb_array_length(plan -> 'transfersDeleted') THEN RAISE SQLSTATE '40001'; END IF;
  END IF;
  IF plan ? 'tombstones' THEN
    INSERT INTO payment_tombstones (reference) SELECT jsonb_array_elements_text(plan -> 'tombstones')
      ON CONFLICT DO NOTHING;
  END IF;
  -- An older version of the server sends no day. The daily job then books the written invoices and payments.
  IF plan ? 'day' AND plan ?| ARRAY['invoicesInserted', 'invoicesUpdated', 'creditNotes', 'paymentsInserted',
    'paymentsUpdated', 'paymentsDeleted', 'transfersInserted', 'transfersUpdated', 'transfersDeleted'] THEN
    PERFORM book_entries(
      ARRAY(SELECT (r ->> 'id')::int FROM jsonb_array_elements(plan -> 'invoicesInserted') r
        UNION ALL SELECT (r ->> 'id')::int FROM jsonb_array_elements(plan -> 'invoicesUpdated') r
        UNION ALL SELECT (r ->> 'invoice_id')::int FROM jsonb_array_elements(plan -> 'creditNotes') r),
      ARRAY(SELECT (r ->> 'id')::int FROM jsonb_array_elements(plan -> 'paymentsInserted') r
        UNION ALL SELECT (r ->> 'id')::int FROM jsonb_array_elements(plan -> 'paymentsUpdated') r
        UNION ALL SELECT (r ->> 'id')::int FROM jsonb_array_elements(plan -> 'paymentsDeleted') r),
      (plan #>> '{day,today}')::date, plan #>> '{day,timeZone}', transfer_ids => ARRAY(
        SELECT (r ->> 'id')::int FROM jsonb_array_elements(plan -> 'transfersInserted') r
        UNION ALL SELECT (r ->> 'id')::int FROM jsonb_array_elements(plan -> 'transfersUpdated') r
        UNION ALL SELECT (r ->> 'id')::int FROM jsonb_array_elements(plan -> 'transfersDeleted') r));
  END IF;
  IF plan ? 'abandoned' THEN
    PERFORM remove_if_empty(id::int, (
      SELECT (m ->> 'customer_id')::int FROM jsonb_array_elements(plan -> 'moves') m WHERE m ->> 'from' = id LIMIT 1
    )) FROM jsonb_array_elements_text(plan -> 'abandoned') AS id;
  END IF;
  IF plan ?| ARRAY['eventsInserted', 'eventsUpdated'] THEN
    PERFORM commit_events(plan, payloads);
  END IF;
  IF plan ?| ARRAY['invoicesUpdated', 'invoicesSeen', 'paymentsUpdated', 'paymentsDeleted'] THEN
    PERFORM close_settled_tasks(
      ARRAY(SELECT (r ->> 'id')::int FROM jsonb_array_elements(plan -> 'invoicesUpdated') r
        UNION ALL SELECT (r ->> 'id')::int FROM jsonb_array_elements(plan -> 'invoicesSeen') r),
      ARRAY(SELECT (r ->> 'id')::int FROM jsonb_array_elements(plan -> 'paymentsUpdated') r
        UNION ALL SELECT (r ->> 'id')::int FROM jsonb_array_elements(plan -> 'paymentsDeleted') r));
  END IF;
  -- A task that sync or a later change has closed is opened again if its reason comes back. A task that a person closed
  -- stays closed.
  IF plan ? 'tasks' THEN
    INSERT INTO staff_tasks AS t (kind, subject, message, entity, entity_id)
      SELECT told.kind, told.subject, told.message, told.entity, told.entity_id
      FROM jsonb_populate_recordset(NULL::staff_tasks, plan -> 'tasks') told
      WHERE NOT EXISTS (SELECT FROM staff_tasks k WHERE k.kind = told.kind AND k.subject = told.subject
        AND coalesce(k.done_by NOT IN ('Stripe', 'a later change'), true))
      ON CONFLICT ON CONSTRAINT staff_tasks_subject DO UPDATE SET done_at = NULL, done_by = NULL,
        message = excluded.message, entity = excluded.entity, entity_id = excluded.entity_id, updated_at = now()
      WHERE t.done_by IN ('Stripe', 'a later change');
  END IF;
  IF plan ? 'tasksOver' THEN
    UPDATE staff_tasks t SET done_at = now(), done_by = 'Stripe', updated_at = now()
      FROM jsonb_to_recordset(plan -> 'tasksOver') AS o(kind text, subject text)
      WHERE t.kind = o.kind AND t.subject = o.subject AND t.done_at IS NULL;
  END IF;
  IF plan ? 'audits' THEN
    -- Replace a null time by the time of this transaction, which the written row also has.
    INSERT INTO audit_log (actor_type, actor_id, actor_name, action, entity, entity_id, before, after)
      SELECT actor_type, actor_id, actor_name, action, entity, entity_id, before,
        after || CASE WHEN after @> '{"created_at": null}' THEN jsonb_build_object('created_at', at) ELSE '{}' END
          || CASE WHEN after @> '{"updated_at": null}' THEN jsonb_build_object('updated_at', at) ELSE '{}' END
      FROM jsonb_populate_recordset(NULL::audit_log, plan -> 'audits');
  END IF;
  IF plan ? 'run' THEN
    INSERT INTO reconciliation_changes (run_id, entity, entity_id, stripe_id, field, before, after, outcome)
      SELECT (plan ->> 'run')::int, entity, entity_id, stripe_id, field, before, after, outcome
      FROM jsonb_populate_recordset(NULL::reconciliation_changes, plan -> 'changes');
  END IF;
  RETURN json_build_object('at', at, 'ids', plan -> 'ids');
END $$;
--> statement-breakpoint
-- Returns the plan with ids for its new rows. `tables` contains the table name of each new row whose id the plan must
-- know. If there are such rows, the plan is a template for `format`, in which %1$s stands for the first id.
CREATE OR REPLACE FUNCTION with_new_ids(plan text, tables text[]) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
  IF tables = '{}' THEN RETURN plan::jsonb; END IF;
  RETURN format(plan, VARIADIC ARRAY(SELECT nextval((name || '_id_seq')::regclass) FROM unnest(tables) AS name))::jsonb;
END $$;
--> statement-breakpoint
-- Locks the stored invoices that a plan changes or depends on, and those whose payments it inserts or updates. Takes
-- the locks in id order, so that two commits cannot deadlock over invoices.
CREATE OR REPLACE FUNCTION lock_invoices(plan jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  ids int[] := ARRAY(SELECT jsonb_array_elements_text(plan -> 'invoicesLocked')::int);
BEGIN
  IF plan ?| ARRAY['handedOver', 'moves'] THEN
    ids := ids || ARRAY(
      SELECT i.id FROM jsonb_to_recordset(plan -> 'handedOver') AS h("from" int)
        JOIN invoices i ON i.subscription_id = h."from"
      UNION ALL SELECT i.id FROM jsonb_to_recordset(plan -> 'moves') AS m(stripe_customer_id text)
        JOIN invoices i ON i.stripe_customer_id = m.stripe_customer_id
    );
  END IF;
  PERFORM FROM invoices WHERE id = ANY (ids) ORDER BY id FOR NO KEY UPDATE;
END $$;
