import { SUBSCRIPTION_STATUSES, subscriptionList } from '@/lib/subscriptions/list';
import { choiceOf, customerField, declareList } from '../_components/lists/list-declaration';
import { SubscriptionList } from './subscription-list';

export const SUBSCRIPTIONS = declareList({
  title: 'Subscriptions',
  description: 'Billed by Stripe.',
  path: '/admin/subscriptions',
  noun: 'subscription',
  yet: 'They appear here as soon as Stripe reports one.',
  source: subscriptionList,
  fields: () => [
    customerField,
    { name: 'status', label: 'Status', options: choiceOf(SUBSCRIPTION_STATUSES) },
    { name: 'items', label: 'Items', options: [{ value: 'unlinked', label: 'Not linked' }] },
    {
      name: 'checkout',
      label: 'Checkout',
      options: [{ value: 'waiting', label: 'Refers to another subscription' }],
    },
    { name: 'id', label: 'Stripe ID', placeholder: 'sub_, si_, cus_' },
  ],
  Rows: SubscriptionList,
});
