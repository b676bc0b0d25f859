import type { FileFormat } from '../file-format';
import { currency, oneOf, texts } from './cells';

/** Clients, known by their ID in WHMCS. */
export const whmcsClients: FileFormat = {
  ...texts,
  columns: {
    id: 'customer_number',
    'first name': 'first_name',
    'last name': 'last_name',
    'company name': 'company',
    email: 'email',
    'email address': 'email',
    'address 1': 'street',
    postcode: 'postal_code',
    city: 'city',
    country: 'country',
    'phone number': 'phone',
    'tax id': 'vat_id',
    'tax exempt': 'tax_exempt',
    currency: 'currency',
    status: 'status',
  },
  values: { currency, status: oneOf({ active: 'active', inactive: 'inactive', closed: 'inactive' }) },
};
