import { listProviderCheckouts } from '@/lib/stripe/list';
import { toProviderEvent } from '@/lib/stripe/to-event';
import { applyCheckout } from '@/lib/sync/decide/checkout/checkout';
import { recheckLink } from '@/lib/sync/decide/customer/link-customer';
import { keysOfCheckout } from '@/lib/sync/decide/keys';
import { settleMoved } from '@/lib/sync/decide/subscription/settle-moved';
import { decideMissing } from '@/lib/sync/reconcile/steps/record-missing-payments';
import { inRun } from '@/lib/sync/reconcile/sync-object';
import { mergeKeys, noKeys } from '@/lib/sync/store/keys';
import type { StoredInvoice } from '@/lib/sync/store/rows';
import { takeModelEvent } from './deliver';
import type { Night } from './night';
import { retrieve } from './night-lists';
import { resolveModelFailures } from './runs';

type Rows = Night['model']['tables']['rows'];
const byId = (a: { id: number }, b: { id: number }) => a.id - b.id;
const select = <T>({ process, model }: Night, read: (rows: Rows) => T) =>
  process.stating(() => read(model.tables.rows));

export async function failedEvents(night: Night): Promise<void> {
  const { deps, process, model } = night;
  const failed = await select(night, ({ events }) =>
    [...events.values()].filter((one) => one.outcome === 'failed' && one.failure_reason === null),
  );
  for (const { id, payload } of failed.sort((a, b) => (a.id < b.id ? -1 : 1))) {
    await night.guarded('event', id, async () => {
      const event = toProviderEvent(JSON.parse(payload));
      if (event) await takeModelEvent(process, deps, { event, payload, again: true });
    });
  }
  await process.stating(() =>
    resolveModelFailures(model, 'event', (id) => model.tables.rows.events.get(id)?.outcome !== 'failed'),
  );
}

export async function recheckCustomers(night: Night): Promise<void> {
  const { deps, process, model, work } = night;
  const isOpen = (id: string) => (model.tables.rows.links.get(id)?.recheck_at ?? null) !== null;
  const found = await select(night, ({ links }) => [...links.keys()].filter(isOpen).sort());
  for (const id of found) {
    await night.guarded('customer', id, async () => {
      const failure = await inRun(deps, work, {
        stripeCustomerId: id,
        keys: mergeKeys(noKeys(), { stripeCustomers: [id] }),
        decide: (draft) => {
          const failure = recheckLink(draft, id);
          settleMoved(draft);
          return failure;
        },
      });
      if (failure) await night.fail('customer', id);
    });
  }
  await process.stating(() => resolveModelFailures(model, 'customer', (id) => !isOpen(id)));
}

export function recheck(kind: 'subscription' | 'invoice') {
  return async (night: Night) => {
    const found = await select(night, ({ subscriptions, invoices }) =>
      kind === 'subscription'
        ? [...subscriptions.values()]
            .filter((row) => row.provider_gone_at === null && (row.recheck_at !== null || row.is_stub))
            .sort(byId)
            .map((row) => row.stripe_subscription_id)
        : [...invoices.values()]
            .filter((row) => row.provider_gone_at === null && row.recheck_at !== null)
            .sort(byId)
            .map((row) => row.stripe_invoice_id),
    );
    for (const id of found) if (id) await night.guarded(kind, id, () => retrieve(night, kind, id));
  };
}

export async function earlierFailures(night: Night): Promise<void> {
  const open = await night.process.stating(() => night.model.failures.filter((one) => !one.resolved));
  for (const { object, stripeId } of open) {
    if (object === 'event' || object === 'customer') continue;
    await night.guarded(object, stripeId, () => retrieve(night, object, stripeId));
  }
}

/** Of subscriptions that were sold, the checkouts that no event told of. */
export async function checkouts(night: Night): Promise<void> {
  const waiting = await select(night, ({ subscriptions, links }) =>
    [...subscriptions.values()]
      .filter((row) => row.stripe_subscription_id === null && row.status !== 'cancelled')
      .sort(byId)
      .flatMap(({ id, customer_id }) =>
        [...links.values()]
          .filter((link) => link.customer_id === customer_id)
          .map(({ stripe_customer_id }) => ({ id, customer: stripe_customer_id }))
          .sort((a, b) => (a.customer < b.customer ? -1 : 1)),
      ),
  );
  for (const { id, customer } of waiting) {
    await night.guarded('customer', customer, () => linkCheckout(night, id, customer));
  }
}

async function linkCheckout({ deps, work }: Night, id: number, customer: string): Promise<void> {
  const found = deps.stripe ? await listProviderCheckouts(deps.stripe, customer) : [];
  for (const checkout of found.filter(({ reference }) => reference === id)) {
    await inRun(deps, work, {
      stripeCustomerId: customer,
      keys: mergeKeys(noKeys(), keysOfCheckout(checkout)),
      decide: (draft) => {
        applyCheckout(draft, checkout);
        settleMoved(draft);
      },
    });
  }
}

export async function missingPayments(night: Night): Promise<void> {
  const { deps, work } = night;
  const found = await select(night, (rows) =>
    [...rows.invoices.values()].filter((row) => mayMiss(rows, row, deps.stripe !== null)).sort(byId),
  );
  for (const { stripe_invoice_id: id, amount_off_stripe, stripe_customer_id } of found) {
    if (id === null) continue;
    await night.guarded('invoice', id, async () => {
      if (deps.stripe && amount_off_stripe === null) await retrieve(night, 'invoice', id);
      await inRun(deps, work, {
        stripeCustomerId: stripe_customer_id,
        keys: mergeKeys(noKeys(), { invoices: [id], payments: [id] }),
        decide: (draft) => decideMissing(draft, id),
      });
    });
  }
}

/** As the query of `recordMissingPayments`. */
function mayMiss({ payments, tombstones }: Rows, row: StoredInvoice, hasKey: boolean): boolean {
  const { stripe_invoice_id: id, amount_off_stripe: off } = row;
  const paid = Number(row.amount_paid);
  if (id === null || paid <= 0 || paid <= Number(off ?? 0) || tombstones.has(id)) return false;
  if (off === null && (!hasKey || row.provider_gone_at !== null)) return false;
  const payment = [...payments.values()].find(({ payment_reference }) => payment_reference === id);
  if (!payment) return true;
  const { source, amount, provider_amount } = payment;
  const isUntouched = source === 'stripe' && amount === provider_amount;
  return isUntouched && (off === null || Number(amount).toFixed(3) !== (paid - Number(off)).toFixed(3));
}
