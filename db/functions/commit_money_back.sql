-- The part of commit_plan about refunds and disputes.
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
