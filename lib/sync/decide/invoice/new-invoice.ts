import { toCalendarDate } from '../../../dates';
import type { ProviderInvoice } from '../../../stripe/provider';
import type { StoredInvoice } from '../../store/rows';
import type { Draft } from '../draft';

export function newInvoice(
  draft: Draft,
  { id, number, currency, issuedAt }: ProviderInvoice,
  stripe_customer_id: string,
  customer_id: number,
): StoredInvoice {
  return {
    id: draft.newId(),
    number,
    customer_id,
    subscription_id: null,
    status: 'draft',
    invoice_date: toCalendarDate(issuedAt ?? draft.now, draft.timeZone),
    due_date: null,
    currency,
    subtotal: '0',
    tax: '0',
    total: '0',
    amount_paid: '0',
    amount_due: '0',
    paid_at: null,
    payment_failed_at: null,
    uncollectible: false,
    amount_off_stripe: null,
    balance_applied: null,
    amount_credited: '0',
    collected_by_payment_id: null,
    stripe_invoice_id: id,
    stripe_customer_id,
    stripe_synced_at: null,
    provider_as_of: null,
    provider_gone_at: null,
    recheck_at: null,
    version: 0,
    created_at: draft.now,
    updated_at: draft.now,
  };
}
