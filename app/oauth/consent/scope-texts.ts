import type { ReadScope } from '@/lib/oauth/scopes';

/** What each scope lets a client read. */
export const READ_TEXTS: Record<ReadScope, { label: string; text: string }> = {
  'customers:read': { label: 'Customers', text: 'Names, contact details and services, without prices.' },
  'billing:read': {
    label: 'Billing',
    text: 'Invoices, offers, order confirmations, and what services cost.',
  },
  'servers:read': { label: 'Servers', text: 'Hostnames, addresses and what runs on them.' },
};

/** The effect of hiding personal data. */
export const HIDES_TEXT =
  'Answers show no names, e-mail addresses, streets, phone numbers or domains, and customers are found by number alone.';
