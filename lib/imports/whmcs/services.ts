import type { FileFormat } from '../file-format';
import { day, oneOf, texts } from './cells';

/** Services, known by their ID in WHMCS. The report has the number of a product, not its name. */
export const whmcsServices: FileFormat = {
  ...texts,
  columns: {
    id: 'service_number',
    'user id': 'customer_number',
    'domain name': 'domain',
    'product id': 'name',
    'recurring amount': 'price',
    'billing cycle': 'billing_interval',
    'registration date': 'start_date',
    'next due date': 'next_billing_date',
    status: 'status',
  },
  values: {
    name: (id) => `WHMCS product ${id.trim()}`,
    start_date: day,
    next_billing_date: day,
    billing_interval: oneOf({
      monthly: 'month',
      quarterly: 'quarter',
      'semi-annually': 'half_year',
      semiannually: 'half_year',
      annually: 'year',
      biennially: 'two_years',
      triennially: 'three_years',
      'one time': 'once',
      onetime: 'once',
      'free account': 'once',
      free: 'once',
    }),
    status: oneOf({
      pending: 'order',
      active: 'active',
      suspended: 'suspended',
      terminated: 'terminated',
      completed: 'terminated',
      cancelled: 'cancelled',
      fraud: 'cancelled',
    }),
  },
  constants: { service_type: 'hosting' },
};
