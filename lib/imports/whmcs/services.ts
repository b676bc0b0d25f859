import type { FileFormat } from '../file-format';
import { amount, day, oneOf } from './cells';

/** Services, known by their ID at WHMCS. The report tells the number of a product, not its name. */
export const whmcsServices: FileFormat = {
  columns: {
    id: 'service_number',
    'user id': 'customer_number',
    'domain name': 'domain',
    'product id': 'name',
    'recurring amount': 'price',
    'billing cycle': 'billing_interval',
    'next due date': 'next_billing_date',
    status: 'status',
  },
  values: {
    name: (id) => `WHMCS product ${id.trim()}`,
    price: amount,
    next_billing_date: day,
    billing_interval: oneOf({
      monthly: 'month',
      quarterly: 'quarter',
      annually: 'year',
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
