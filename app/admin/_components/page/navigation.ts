import {
  IconAddressBook,
  IconAlarm,
  IconApps,
  IconBox,
  IconCalendarRepeat,
  IconCreditCard,
  IconFileExport,
  IconFileImport,
  IconFileInvoice,
  IconFileText,
  IconHash,
  IconHome,
  IconKey,
  IconListCheck,
  IconPlug,
  IconRefresh,
  IconRepeat,
  IconServer2,
  IconUsers,
  IconWebhook,
} from '@tabler/icons-react';

const NAVIGATION = [
  { href: '/admin', label: 'Overview', icon: IconHome },
  { href: '/admin/tasks', label: 'Tasks', icon: IconListCheck },
  { href: '/admin/customers', label: 'Customers', icon: IconAddressBook },
  { href: '/admin/invoices', label: 'Invoices', icon: IconFileInvoice },
  { href: '/admin/payments', label: 'Payments', icon: IconCreditCard },
  { href: '/admin/subscriptions', label: 'Subscriptions', icon: IconCalendarRepeat },
  { href: '/admin/services', label: 'Services', icon: IconBox },
  { href: '/admin/sales-documents', label: 'Sales documents', icon: IconFileText },
  { href: '/admin/servers', label: 'Servers', icon: IconServer2 },
  { href: '/admin/overdue', label: 'Overdue', icon: IconAlarm },
  { href: '/admin/renewals', label: 'Renewals', icon: IconRepeat },
  { href: '/admin/webhooks', label: 'Webhooks', icon: IconWebhook },
  { href: '/admin/reconciliation', label: 'Reconciliation', icon: IconRefresh },
  { href: '/admin/export', label: 'Export', icon: IconFileExport },
  { href: '/admin/connect', label: 'Connect a client', icon: IconPlug },
  { href: '/admin/apps', label: 'Connected apps', icon: IconApps },
];

const FOR_ADMINS = [
  { href: '/admin/imports', label: 'Import', icon: IconFileImport },
  { href: '/admin/tokens', label: 'Access tokens', icon: IconKey },
  { href: '/admin/staff', label: 'Staff', icon: IconUsers },
  { href: '/admin/settings/numbers', label: 'Numbers', icon: IconHash },
];

/** The entries of the side bar, in its order. */
export function navigationFor(isAdmin: boolean) {
  return isAdmin ? [...NAVIGATION, ...FOR_ADMINS] : NAVIGATION;
}

/** True where a page belongs to an entry: itself, or below it; the overview only itself. */
export function isCurrent(href: string, pathname: string): boolean {
  return pathname === href || (href !== '/admin' && pathname.startsWith(`${href}/`));
}
