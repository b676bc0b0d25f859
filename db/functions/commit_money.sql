-- The part of commit_plan that writes invoices with Stripe's lines and credit notes, transfers and payments. Moves the
-- rows of a Stripe customer to another customer after it has written the invoices, so that new ones move too.
CREATE OR REPLACE FUNCTION commit_invoices(plan jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  written int;
  money text[];
BEGIN
  IF plan ? 'invoicesInserted' THEN
    INSERT INTO invoices (
      id, number, customer_id, subscription_id, status, invoice_date, due_date, currency, subtotal, tax, total,
      amount_paid, amount_due, paid_at, payment_failed_at, uncollectible, amount_off_stripe, amount_credited,
      balance_applied, collected_by_payment_id, stripe_invoice_id,
      stripe_customer_id, stripe_synced_at, provider_as_of, provider_gone_at, recheck_at, lines_hash, lines_complete
    )
      OVERRIDING SYSTEM VALUE SELECT
      id, number, customer_id, subscription_id, status, invoice_date, due_date, currency, subtotal, tax, total,
      amount_paid, amount_due, paid_at, payment_failed_at, uncollectible, amount_off_stripe, amount_credited,
      balance_applied, collected_by_payment_id, stripe_invoice_id,
      stripe_customer_id, stripe_synced_at, provider_as_of, provider_gone_at, recheck_at, lines_hash, lines_complete
      FROM jsonb_populate_recordset(NULL::invoices, plan -> 'invoicesInserted');
  END IF;
  IF plan ? 'invoicesUpdated' THEN
    UPDATE invoices t SET
      number = r.number, customer_id = r.customer_id, subscription_id = r.subscription_id,
      status = r.status, invoice_date = r.invoice_date, due_date = r.due_date,
      currency = r.currency, subtotal = r.subtotal, tax = r.tax, total = r.total,
      amount_paid = r.amount_paid, amount_due = r.amount_due, paid_at = r.paid_at,
      payment_failed_at = r.payment_failed_at, uncollectible = r.uncollectible,
      amount_off_stripe = r.amount_off_stripe, amount_credited = r.amount_credited,
      balance_applied = r.balance_applied, collected_by_payment_id = r.collected_by_payment_id,
      stripe_invoice_id = r.stripe_invoice_id, stripe_customer_id = r.stripe_customer_id,
      stripe_synced_at = r.stripe_synced_at,
      provider_as_of = r.provider_as_of, provider_gone_at = r.provider_gone_at,
      recheck_at = r.recheck_at, lines_hash = r.lines_hash, lines_complete = r.lines_complete,
      updated_at = now(), version = t.version + 1
      FROM jsonb_populate_recordset(NULL::invoices, plan -> 'invoicesUpdated') r
      WHERE t.id = r.id AND t.version = r.version;
    GET DIAGNOSTICS written = ROW_COUNT;
    IF written < jsonb_array_length(plan -> 'invoicesUpdated') THEN RAISE SQLSTATE '40001'; END IF;
  END IF;
  IF plan ? 'linesReplaced' THEN
    DELETE FROM stripe_invoice_lines
      WHERE invoice_id = ANY (ARRAY(SELECT jsonb_array_elements_text(plan -> 'linesReplaced')::int));
  END IF;
  IF plan ? 'lines' THEN
    INSERT INTO stripe_invoice_lines (
      invoice_id, position, description, period_start, period_end, quantity, amount, discount, taxes
    ) SELECT
      invoice_id, position, description, period_start, period_end, quantity, amount, discount, taxes
      FROM jsonb_populate_recordset(NULL::stripe_invoice_lines, plan -> 'lines');
  END IF;
  -- After Stripe has issued a credit note, it can only void it, so a stored one changes in no other way. An older version
  -- of the server did not store `to_balance`.
  IF plan ? 'creditNotes' THEN
    INSERT INTO credit_notes (
      number, kind, invoice_id, customer_id, date, currency, subtotal, tax, total, rates, reason, stripe_credit_note_id,
      voided_at, stripe_lines, to_balance
    ) SELECT
      n.number, 'credit_note', i.id, i.customer_id, n.date, n.currency, n.subtotal, n.tax, n.total, '[]', n.reason,
      n.stripe_credit_note_id, n.voided_at, n.stripe_lines, n.to_balance
      FROM jsonb_populate_recordset(NULL::credit_notes, plan -> 'creditNotes') n JOIN invoices i ON i.id = n.invoice_id
      ON CONFLICT (stripe_credit_note_id) DO UPDATE SET voided_at = excluded.voided_at,
          to_balance = coalesce(excluded.to_balance, credit_notes.to_balance), updated_at = now()
        WHERE credit_notes.voided_at IS NULL AND (excluded.voided_at IS NOT NULL OR credit_notes.to_balance IS NULL);
  END IF;
  IF plan ? 'invoicesSettled' THEN
    UPDATE invoices t SET
      status = r.status, amount_paid = r.amount_paid, amount_due = r.amount_due, paid_at = r.paid_at,
      updated_at = now(), version = t.version + 1
      FROM jsonb_to_recordset(plan -> 'invoicesSettled') AS r(
        id int, version int, status invoice_status, amount_paid numeric, amount_due numeric, paid_at timestamptz
      )
      WHERE t.id = r.id AND t.version = r.version;
    GET DIAGNOSTICS written = ROW_COUNT;
    IF written < jsonb_array_length(plan -> 'invoicesSettled') THEN RAISE SQLSTATE '40001'; END IF;
  END IF;
  IF plan ? 'moves' THEN
    PERFORM move_stripe_customer(m.stripe_customer_id, m.customer_id)
      FROM jsonb_to_recordset(plan -> 'moves') AS m(stripe_customer_id text, customer_id int);
  END IF;
  IF plan ? 'transfersInserted' THEN
    INSERT INTO transfers (id, customer_id, amount, credit, paid_back, currency, payment_date, reference, method)
      OVERRIDING SYSTEM VALUE SELECT id, customer_id, amount, credit, paid_back, currency, payment_date, reference, method
      FROM jsonb_populate_recordset(NULL::transfers, plan -> 'transfersInserted');
  END IF;
  -- If a transfer gets a new reference, the foreign key also writes it to the transfer's payments.
  IF plan ? 'transfersUpdated' THEN
    UPDATE transfers t SET
      customer_id = r.customer_id, amount = r.amount, credit = r.credit, paid_back = r.paid_back,
      currency = r.currency, payment_date = r.payment_date, reference = r.reference, method = r.method,
      updated_at = now(), version = t.version + 1
      FROM jsonb_populate_recordset(NULL::transfers, plan -> 'transfersUpdated') r
      WHERE t.id = r.id AND t.version = r.version;
    GET DIAGNOSTICS written = ROW_COUNT;
    IF written < jsonb_array_length(plan -> 'transfersUpdated') THEN RAISE SQLSTATE '40001'; END IF;
  END IF;
  IF plan ? 'paymentsInserted' THEN
    INSERT INTO payments (
      id, invoice_id, customer_id, amount, currency, payment_date, payment_reference, status, source,
      provider_amount, provider_payment_date, stripe_payment_intent_id, stripe_charge_id, refunded_amount, transfer
    )
      OVERRIDING SYSTEM VALUE SELECT
      id, invoice_id, customer_id, amount, currency, payment_date, payment_reference, status, source,
      provider_amount, provider_payment_date, stripe_payment_intent_id, stripe_charge_id, refunded_amount, transfer
      FROM jsonb_populate_recordset(NULL::payments, plan -> 'paymentsInserted');
  END IF;
  IF plan ? 'reported' AND EXISTS (
    SELECT FROM payment_tombstones t WHERE t.reference IN (SELECT jsonb_array_elements_text(plan -> 'reported'))
  ) THEN RAISE SQLSTATE '40001'; END IF;
  -- Fail if an API client or staff have meanwhile recorded a payment under one of these payment intent or charge ids.
  -- This plan has locked the ids, so no such payment can be added after the check.
  IF plan ? 'reportedMoney' AND EXISTS (
    SELECT FROM payments WHERE payment_reference = ANY (ARRAY(
      SELECT jsonb_array_elements_text(plan -> 'reportedMoney')
    ))
  ) THEN RAISE SQLSTATE '40001'; END IF;
  -- Fail if sync has meanwhile recorded a payment with one of these payment intent or charge ids.
  IF plan ? 'money' THEN
    money := ARRAY(SELECT jsonb_array_elements_text(plan -> 'money'));
    IF EXISTS (SELECT FROM payments WHERE stripe_payment_intent_id = ANY (money) AND source = 'stripe')
      OR EXISTS (SELECT FROM payments WHERE stripe_charge_id = ANY (money) AND source = 'stripe')
    THEN RAISE SQLSTATE '40001'; END IF;
  END IF;
  IF plan ? 'paymentsUpdated' THEN
    UPDATE payments t SET
      invoice_id = r.invoice_id, customer_id = r.customer_id, amount = r.amount,
      currency = r.currency, payment_date = r.payment_date,
      payment_reference = r.payment_reference, status = r.status, source = r.source,
      provider_amount = r.provider_amount, provider_payment_date = r.provider_payment_date,
      stripe_payment_intent_id = r.stripe_payment_intent_id,
      stripe_charge_id = r.stripe_charge_id, refunded_amount = r.refunded_amount,
      transfer = r.transfer, updated_at = now(), version = t.version + 1
      FROM jsonb_populate_recordset(NULL::payments, plan -> 'paymentsUpdated') r
      WHERE t.id = r.id AND t.version = r.version;
    GET DIAGNOSTICS written = ROW_COUNT;
    IF written < jsonb_array_length(plan -> 'paymentsUpdated') THEN RAISE SQLSTATE '40001'; END IF;
  END IF;
END $$;
--> statement-breakpoint
-- The part of commit_plan that writes refunds and disputes.
CREATE OR REPLACE FUNCTION commit_money_back(plan jsonb) RETURNS void LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
  written int;
BEGIN
  IF plan ? 'refundsDeleted' THEN
    DELETE FROM refunds t USING jsonb_populate_recordset(NULL::refunds, plan -> 'refundsDeleted') r
      WHERE t.id = r.id AND t.version = r.version;
    GET DIAGNOSTICS written = ROW_COUNT;
    IF written < jsonb_array_length(plan -> 'refundsDeleted') THEN RAISE SQLSTATE '40001'; END IF;
  END IF;
  IF plan ? 'refundsUpdated' THEN
    UPDATE refunds t SET
      payment_id = r.payment_id, stripe_refund_id = r.stripe_refund_id,
      stripe_payment_intent_id = r.stripe_payment_intent_id, stripe_charge_id = r.stripe_charge_id,
      stripe_invoice_id = r.stripe_invoice_id, amount = r.amount, currency = r.currency, status = r.status,
      source = r.source, provider_status = r.provider_status, reason = r.reason, issued_at = r.issued_at,
      provider_as_of = r.provider_as_of, provider_gone_at = r.provider_gone_at, updated_at = now(),
      version = t.version + 1
      FROM jsonb_populate_recordset(NULL::refunds, plan -> 'refundsUpdated') r
      WHERE t.id = r.id AND t.version = r.version;
    GET DIAGNOSTICS written = ROW_COUNT;
    IF written < jsonb_array_length(plan -> 'refundsUpdated') THEN RAISE SQLSTATE '40001'; END IF;
  END IF;
  IF plan ? 'refundsInserted' THEN
    INSERT INTO refunds (
      id, payment_id, stripe_refund_id, stripe_payment_intent_id, stripe_charge_id, stripe_invoice_id, amount, currency,
      status, provider_status, source, reason, issued_at, provider_as_of, provider_gone_at
    )
      OVERRIDING SYSTEM VALUE SELECT
      id, payment_id, stripe_refund_id, stripe_payment_intent_id, stripe_charge_id, stripe_invoice_id, amount, currency,
      status, provider_status, source, reason, issued_at, provider_as_of, provider_gone_at
      FROM jsonb_populate_recordset(NULL::refunds, plan -> 'refundsInserted');
  END IF;
  IF plan ? 'disputesUpdated' THEN
    UPDATE disputes t SET
      payment_id = r.payment_id, stripe_dispute_id = r.stripe_dispute_id,
      stripe_payment_intent_id = r.stripe_payment_intent_id,
      stripe_charge_id = r.stripe_charge_id, stripe_invoice_id = r.stripe_invoice_id, amount = r.amount,
      currency = r.currency, status = r.status, provider_status = r.provider_status, reason = r.reason,
      issued_at = r.issued_at, evidence_due_at = r.evidence_due_at, funds_withdrawn_at = r.funds_withdrawn_at,
      funds_returned_at = r.funds_returned_at, provider_as_of = r.provider_as_of,
      provider_gone_at = r.provider_gone_at, updated_at = now(), version = t.version + 1
      FROM jsonb_populate_recordset(NULL::disputes, plan -> 'disputesUpdated') r
      WHERE t.id = r.id AND t.version = r.version;
    GET DIAGNOSTICS written = ROW_COUNT;
    IF written < jsonb_array_length(plan -> 'disputesUpdated') THEN RAISE SQLSTATE '40001'; END IF;
  END IF;
  IF plan ? 'disputesInserted' THEN
    INSERT INTO disputes (
      id, payment_id, stripe_dispute_id, stripe_payment_intent_id, stripe_charge_id, stripe_invoice_id, amount,
      currency, status, provider_status, reason, issued_at, evidence_due_at, funds_withdrawn_at, funds_returned_at,
      provider_as_of, provider_gone_at
    )
      OVERRIDING SYSTEM VALUE SELECT
      id, payment_id, stripe_dispute_id, stripe_payment_intent_id, stripe_charge_id, stripe_invoice_id, amount,
      currency, status, provider_status, reason, issued_at, evidence_due_at, funds_withdrawn_at, funds_returned_at,
      provider_as_of, provider_gone_at
      FROM jsonb_populate_recordset(NULL::disputes, plan -> 'disputesInserted');
  END IF;
END $$;
