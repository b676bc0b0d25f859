import {
  IconCalendarRepeat,
  IconCreditCard,
  IconHome,
  IconPlug,
  IconRefresh,
  IconWebhook,
} from '@tabler/icons-react';

/** The entries of the side bar, in its order. */
export const NAVIGATION = [
  { href: '/admin', label: 'Overview', icon: IconHome },
  { href: '/admin/payments', label: 'Payments', icon: IconCreditCard },
  { href: '/admin/subscriptions', label: 'Subscriptions', icon: IconCalendarRepeat },
  { href: '/admin/webhooks', label: 'Webhooks', icon: IconWebhook },
  { href: '/admin/reconciliation', label: 'Reconciliation', icon: IconRefresh },
  { href: '/admin/connect', label: 'Connect a client', icon: IconPlug },
];

/** True where a page belongs to an entry: itself, or below it; the overview only itself. */
export function isCurrent(href: string, pathname: string): boolean {
  return pathname === href || (href !== '/admin' && pathname.startsWith(`${href}/`));
}
