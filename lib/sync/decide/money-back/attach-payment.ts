import { toChanges } from '../changes';
import type { Draft } from '../draft';
import { findStored } from './find-payment';
import { KINDS, type MoneyBackKind } from './kinds';
import { settleMoneyBack } from './settle';

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
  settleMoneyBack(draft, payment, { told: kind === 'refund' ? draft.refund(stripeId) : undefined });
}
