import type { FileFormat } from './file-format';

// The reports "Clients" and "Services" (Reports > Exports, Tools > Export to CSV):
// https://docs.whmcs.com/Reports

/** WHMCS writes days that are not known as zeros, and others with a time. */
const day = (cell: string) =>
  cell.startsWith('0000-00-00') || cell.startsWith('00.00.0000') ? '' : cell.slice(0, 10);

/** An amount without its currency: `€9.90 EUR`. */
const amount = (cell: string) => cell.replace(/^[^\d-]+|[^\d]+$/g, '');

const oneOf =
  (values: Record<string, string>) =>
  (cell: string): string =>
    values[cell.trim().toLowerCase()] ?? cell;

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
