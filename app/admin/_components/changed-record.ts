import type { NamedChange } from '@/lib/sync/reconcile/name-changes';
import { formatField, formatInstant } from '../../_components/format';

const KINDS: Record<NamedChange['entity'], string> = {
  customer: 'Customer',
  customer_service: 'Service',
  subscription: 'Subscription',
  subscription_item: 'Item',
  invoice: 'Invoice',
  payment: 'Payment',
};

const PLACES: Partial<Record<NamedChange['entity'], string>> = {
  customer: '/admin/customers',
  customer_service: '/admin/services',
  subscription: '/admin/subscriptions',
  invoice: '/admin/invoices',
  payment: '/admin/payments',
};

const FIELDS: Record<string, string> = {
  amount_off_stripe: 'Paid outside Stripe',
  linked_customer_id: 'Linked customer',
  provider_gone_at: 'Gone at Stripe',
};

/** What a changed record is called, and its page where it is still there. */
export function changedRecord({ entity, entity_id, record }: NamedChange) {
  const name = record?.name ?? entity_id;
  const place = PLACES[entity];
  const ownPage = place ? `${place}/${entity_id}` : `/admin/subscriptions/${record?.subscription_id}`;
  return {
    name,
    text: `${KINDS[entity]}${name === null ? '' : ` ${name}`}`,
    href: record && (place || record.subscription_id) ? ownPage : null,
  };
}

export function changedField({ field }: NamedChange): string {
  return FIELDS[field] ?? formatField(field);
}

/** What stood in a field; a dash for nothing. */
export function changedValue(value: string | null, timeZone: string): string {
  if (value === null) return '–';
  return /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value) ? formatInstant(value, timeZone) : value;
}
