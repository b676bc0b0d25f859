import {
  type ListedSubscription,
  listSubscriptions,
  SUBSCRIPTION_STATUSES,
  subscriptionFilters,
  subscriptionsCsv,
} from '@/lib/subscriptions/queries';
import { choiceOf, customerField, type ListDeclaration } from '../_components/lists/list-declaration';
import { SubscriptionList } from './subscription-list';

export const SUBSCRIPTIONS = {
  title: 'Subscriptions',
  description: 'Billed by Stripe.',
  path: '/admin/subscriptions',
  noun: 'subscription',
  yet: 'They appear here as soon as Stripe reports one.',
  schema: subscriptionFilters,
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
  read: ({ db }, filters, { start }) => listSubscriptions(db, filters, start),
  Rows: ({ rows, ...props }) => <SubscriptionList subscriptions={rows} {...props} />,
  csv: ({ db }, filters) => subscriptionsCsv(db, filters),
} satisfies ListDeclaration<typeof subscriptionFilters, ListedSubscription>;
