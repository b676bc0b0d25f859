import {
  IconAddressBook,
  IconAlarm,
  IconApps,
  IconBell,
  IconBox,
  IconBuilding,
  IconBuildingBank,
  IconCalculator,
  IconCalendarRepeat,
  IconChartBar,
  IconCreditCard,
  IconFileExport,
  IconFileImport,
  IconFileInvoice,
  IconFileMinus,
  IconFileText,
  IconHash,
  IconHome,
  IconKey,
  IconListCheck,
  IconMail,
  IconPlug,
  IconRefresh,
  IconRepeat,
  IconServer2,
  IconUsers,
  IconWebhook,
} from '@tabler/icons-react';

interface Entry {
  href: string;
  label: string;
  icon: typeof IconHome;
  forAdmins?: true;
}

const GROUPS: { label: string; entries: Entry[] }[] = [
  {
    label: 'Today',
    entries: [
      { href: '/admin', label: 'Overview', icon: IconHome },
      { href: '/admin/tasks', label: 'Tasks', icon: IconListCheck },
      { href: '/admin/overdue', label: 'Overdue', icon: IconAlarm },
      { href: '/admin/renewals', label: 'Renewals', icon: IconRepeat },
      { href: '/admin/reports', label: 'Reports', icon: IconChartBar },
    ],
  },
  {
    label: 'Records',
    entries: [
      { href: '/admin/customers', label: 'Customers', icon: IconAddressBook },
      { href: '/admin/invoices', label: 'Invoices', icon: IconFileInvoice },
      { href: '/admin/credit-notes', label: 'Credit notes', icon: IconFileMinus },
      { href: '/admin/payments', label: 'Payments', icon: IconCreditCard },
      { href: '/admin/bank', label: 'Bank statements', icon: IconBuildingBank },
      { href: '/admin/subscriptions', label: 'Subscriptions', icon: IconCalendarRepeat },
      { href: '/admin/services', label: 'Services', icon: IconBox },
      { href: '/admin/sales-documents', label: 'Sales documents', icon: IconFileText },
      { href: '/admin/servers', label: 'Servers', icon: IconServer2 },
    ],
  },
  {
    label: 'Stripe and files',
    entries: [
      { href: '/admin/webhooks', label: 'Webhooks', icon: IconWebhook },
      { href: '/admin/reconciliation', label: 'Reconciliation', icon: IconRefresh },
      { href: '/admin/imports', label: 'Import', icon: IconFileImport, forAdmins: true },
      { href: '/admin/export', label: 'Export', icon: IconFileExport },
    ],
  },
  {
    label: 'Access and settings',
    entries: [
      { href: '/admin/connect', label: 'Connect a client', icon: IconPlug },
      { href: '/admin/apps', label: 'Connected apps', icon: IconApps },
      { href: '/admin/tokens', label: 'Access tokens', icon: IconKey, forAdmins: true },
      { href: '/admin/staff', label: 'Staff', icon: IconUsers, forAdmins: true },
      { href: '/admin/settings/company', label: 'Company', icon: IconBuilding, forAdmins: true },
      { href: '/admin/settings/accounting', label: 'Accounting', icon: IconCalculator, forAdmins: true },
      { href: '/admin/settings/reminders', label: 'Reminders', icon: IconMail, forAdmins: true },
      { href: '/admin/settings/numbers', label: 'Numbers', icon: IconHash, forAdmins: true },
      { href: '/admin/settings/alerts', label: 'Alerts', icon: IconBell, forAdmins: true },
    ],
  },
];

/** Returns the groups of the sidebar in display order, with the entries that the person may open. */
export function navigationFor(isAdmin: boolean) {
  return GROUPS.map(({ label, entries }) => ({
    label,
    entries: entries.filter(({ forAdmins }) => isAdmin || !forAdmins),
  }));
}

/** Returns true if a path is an entry's page or below it. The overview's entry matches only the overview itself. */
export function isCurrent(href: string, pathname: string): boolean {
  return pathname === href || (href !== '/admin' && pathname.startsWith(`${href}/`));
}
