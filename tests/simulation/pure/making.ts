import type { Making } from '../hands';
import { OF_MERGED, OWN_INVOICE } from '../setup';
import type { Model } from './model';

const numbered = (letter: string, id: number) => letter + String(id).padStart(5, '0');

/** Rows as the factories of tests make them. */
export function modelMaking({ tables, now }: Model): Making {
  const at = { created_at: now(), updated_at: now(), version: 0 };
  return {
    async makeCustomer(email) {
      const id = tables.nextId('customers');
      const row = { id, customer_number: numbered('K', id), email, version: 0 };
      const name = { last_name: `Tester${id}`, phone: null, erased_at: null };
      const address = { street: null, postal_code: null, city: null, country: null };
      tables.put('customers', id, { ...row, ...name, ...address });
      return row;
    },
    async makeMerged(customer_id) {
      const [id, customer_number] = [OF_MERGED + customer_id, `M${customer_id}`];
      tables.put('merged', id, { id, customer_number, customer_id });
      return customer_number;
    },
    async makeService({ price, ...given }) {
      const id = tables.nextId('services');
      const row = { ...given, id, service_number: numbered('S', id), price: Number(price).toFixed(3) };
      const dates = { synced_billing_date: null, synced_ends_on: null };
      tables.put('services', id, { ...row, ...dates, status: 'active', version: 0 });
      return row;
    },
    async makeSold(customer_id) {
      const id = tables.nextId('subscriptions');
      tables.put('subscriptions', id, {
        id,
        customer_id,
        status: 'incomplete',
        next_billing_date: null,
        cancel_at_period_end: false,
        cancel_at: null,
        ended_at: null,
        pause_behavior: null,
        pause_resumes_at: null,
        checkout_completed_at: null,
        stripe_subscription_id: null,
        stripe_customer_id: null,
        stripe_synced_at: null,
        provider_as_of: null,
        recheck_at: null,
        provider_gone_at: null,
        checkout_reference: null,
        reference_declined: false,
        is_stub: false,
        ...at,
      });
      return { id };
    },
    async makeSoldItem(item) {
      const id = tables.nextId('items');
      const named = { named_service_id: null, named_service_number: null };
      const billed = { amount: null, currency: null, interval: null, interval_count: null };
      const own = { stripe_subscription_item_id: null, linked_by_staff: false, current_period_end: null };
      tables.put('items', id, { ...item, id, ...named, ...billed, ...own, ...at });
    },
    async makeInvoice(customer_id) {
      const id = tables.nextId('invoices');
      const stripes = { stripe_invoice_id: null, stripe_customer_id: null, stripe_synced_at: null };
      const known = { provider_as_of: null, provider_gone_at: null, recheck_at: null };
      tables.put('invoices', id, {
        ...OWN_INVOICE,
        ...stripes,
        ...known,
        id,
        number: numbered('R', id),
        customer_id,
        subscription_id: null,
        paid_at: null,
        payment_failed_at: null,
        uncollectible: false,
        amount_off_stripe: null,
        amount_credited: '0.000',
        ...at,
      });
      return { id };
    },
    async makeLink(link) {
      tables.put('links', link.stripe_customer_id, {
        ...link,
        number_source: null,
        number_reported_at: null,
        number_reported_by: null,
        numbers: [],
        details: [],
        recheck_at: null,
        ...at,
      });
    },
  };
}
