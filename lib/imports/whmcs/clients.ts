import type { FileFormat } from '../file-format';
import { oneOf } from './cells';

/** Clients, known by their ID at WHMCS. Its report tells the number of a currency, not its name. */
export const whmcsClients: FileFormat = {
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
    status: 'status',
  },
  values: { status: oneOf({ active: 'active', inactive: 'inactive', closed: 'inactive' }) },
};
