import type { FileFormat } from '../file-format';
import { day, oneOf, texts } from './cells';

const YEARS: Record<string, string> = { '1': 'year', '2': 'two_years', '3': 'three_years' };

/** Domains, which WHMCS numbers apart from services: `domain-7` is not the service 7. */
export const whmcsDomains: FileFormat = {
  ...texts,
  columns: {
    'user id': 'customer_number',
    'recurring amount': 'price',
    'registration date': 'start_date',
    'next due date': 'next_billing_date',
    status: 'status',
  },
  derived: {
    service_number: { of: ['id'], value: ([id = '']) => (Number(id) === 0 ? '' : `domain-${id.trim()}`) },
    domain: { of: ['domain name'], value: ([name = '']) => name },
    name: { of: ['domain name'], value: ([name = '']) => name },
    billing_interval: {
      of: ['registration period'],
      value: ([years = '']) =>
        YEARS[years.trim()] ?? { problem: `is ${years.trim()} years: only 1, 2 or 3 can be billed at once` },
    },
  },
  values: {
    start_date: day,
    next_billing_date: day,
    status: oneOf({
      pending: 'order',
      'pending registration': 'order',
      'pending transfer': 'order',
      active: 'active',
      grace: 'suspended',
      'grace period': 'suspended',
      redemption: 'suspended',
      'redemption period': 'suspended',
      expired: 'terminated',
      'transferred away': 'terminated',
      cancelled: 'cancelled',
      fraud: 'cancelled',
    }),
  },
  constants: { service_type: 'domain' },
};
