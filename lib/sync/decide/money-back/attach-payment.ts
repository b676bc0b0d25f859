import { toChanges } from '../changes';
import type { Draft } from '../draft';
import { findStored } from './find-payment';
import { KINDS, type MoneyBackKind } from './kinds';
import { settleMoneyBack } from './settle';
import { tellTakenBack } from './taken-back';

export function attachPayment<Kind extends MoneyBackKind>(draft: Draft, kind: Kind, stripeId: string): void {
  const { find, put } = KINDS[kind];
  const row = find(draft, stripeId);
  if (!row || row.payment_id !== null) return;
  const { stripe_payment_intent_id: intent, stripe_charge_id: charge, stripe_invoice_id: invoice } = row;
  const payment = findStored(draft, [intent, charge, invoice]);
  if (!payment) return;
  const after = { payment_id: payment.id };
  const subject = { entity: kind, entity_id: row.id, stripe_id: stripeId };
  draft.changes.push(...toChanges(subject, { payment_id: null }, after));
  put(draft, { ...row, ...after });
  const dispute = kind === 'dispute' ? draft.dispute(stripeId) : undefined;
  if (dispute) tellTakenBack(draft, dispute, payment);
  settleMoneyBack(draft, payment, { told: kind === 'refund' ? draft.refund(stripeId) : undefined });
}
