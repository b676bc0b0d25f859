import { navigationFor } from '../page/navigation';
import type { SearchAnswer } from './to-entry';

const ACTIONS = [
  { href: '/admin/customers/new', label: 'New customer' },
  { href: '/admin/invoices/new', label: 'New invoice' },
  { href: '/admin/payments/new', label: 'Record payment' },
  { href: '/admin/services/new', label: 'New service' },
  { href: '/admin/sales-documents/new', label: 'New sales document' },
  { href: '/admin/servers/new', label: 'New server' },
  { href: '/admin/invoices?status=overdue', label: 'Overdue invoices' },
  { href: '/admin/subscriptions?status=past_due', label: 'Past-due subscriptions' },
  { href: '/admin/servers?status=maintenance', label: 'Servers in maintenance' },
  { href: '/admin/webhooks?outcome=failed', label: 'Failed events' },
];

const FOR_ADMINS = [
  { href: '/admin/tokens/new', label: 'Issue access token' },
  { href: '/admin/staff/new', label: 'Add person' },
];

/** As many as leave room for what is found. */
const MAX_ENTRIES = 12;

/** The pages and actions whose name has all words of a text; without a text, the actions. */
export function pageEntries(text: string, isAdmin: boolean): SearchAnswer['groups'] {
  const actions = isAdmin ? [...ACTIONS, ...FOR_ADMINS] : ACTIONS;
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const all =
    words.length === 0 ? actions : [...actions, ...navigationFor(isAdmin).flatMap(({ entries }) => entries)];
  const entries = all
    .filter(({ label }) => words.every((word) => label.toLowerCase().includes(word)))
    .slice(0, MAX_ENTRIES)
    .map(({ href, label }) => ({ href, title: label, detail: '', status: null, figure: null }));
  return entries.length > 0 ? [{ label: 'Pages and actions', more: false, entries }] : [];
}
