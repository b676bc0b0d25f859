import { toChanges } from '../changes';
import type { Draft } from '../draft';
import { askInvoice, findStored } from './find-payment';
import { KINDS, type MoneyBackKind } from './kinds';
import { settleMoneyBack } from './settle';
import { tellTakenBack } from './taken-back';

/** Finds the payment of a refund or dispute that was recorded without one. Stripe is asked if no name leads to it. */
export function attachPayment<Kind extends MoneyBackKind>(draft: Draft, kind: Kind, stripeId: string): void {
  const { find, put } = KINDS[kind];
  const row = find(draft, stripeId);
  if (!row || row.payment_id !== null) return;
  const { stripe_payment_intent_id: intent, stripe_charge_id: charge } = row;
  const named = findStored(draft, [intent, charge, row.stripe_invoice_id]);
  // An intent may have become a payment of an invoice since.
  const isAsked = !named && row.stripe_invoice_id === null && intent !== null;
  const invoice = isAsked ? askInvoice(draft, stripeId, intent) : row.stripe_invoice_id;
  const payment = named ?? findStored(draft, [invoice]);
  if (!payment) return;
  const after = { payment_id: payment.id };
  const subject = { entity: kind, entity_id: row.id, stripe_id: stripeId };
  draft.changes.push(...toChanges(subject, { payment_id: null }, after));
  put(draft, { ...row, ...after, stripe_invoice_id: invoice });
  if (kind === 'dispute') tellTakenBack(draft, stripeId, payment);
  settleMoneyBack(draft, payment, { told: kind === 'refund' ? draft.refund(stripeId) : undefined });
}
