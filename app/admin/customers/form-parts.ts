import { getCustomerDetails } from '@/lib/customers/queries';
import type { Runtime } from '@/lib/runtime';
import type { FormPart } from '../_components/forms/record/record-form';
import { countryField, currencyField } from '../_components/forms/record/suggestions';
import { LANGUAGES } from '../_components/records/customer-facts';

/** Returns the customer with this id, or the customer it was merged into. Returns null if there is neither. */
export const readCustomer = (db: Runtime['db'], id: number) => getCustomerDetails(db, { id });

export const customerParts = ({ isNew }: { isNew: boolean }): FormPart[] => [
  {
    title: 'Details',
    fields: [
      { name: 'company', label: 'Company', maxLength: 200, description: 'Or enter a person’s name.' },
      {
        name: 'customer_number',
        label: 'Customer number',
        maxLength: 100,
        ...(isNew ? { description: 'Leave empty for the next number.' } : { required: true }),
      },
      { name: 'first_name', label: 'First name', maxLength: 200 },
      { name: 'last_name', label: 'Last name', maxLength: 200 },
      { name: 'email', label: 'E-mail', inputMode: 'email', maxLength: 254 },
      { name: 'phone', label: 'Phone', maxLength: 100 },
    ],
  },
  {
    title: 'Address',
    fields: [
      { name: 'street', label: 'Street', maxLength: 200 },
      { name: 'postal_code', label: 'Postal code', maxLength: 20 },
      { name: 'city', label: 'City', maxLength: 200 },
      countryField(),
    ],
  },
  {
    title: 'Billing',
    fields: [
      { name: 'vat_id', label: 'VAT ID', maxLength: 50 },
      currencyField(),
      { name: 'tax_exempt', label: 'Exempt from tax', kind: 'flag' },
    ],
  },
  {
    title: 'Documents',
    fields: [
      {
        name: 'buyer_reference',
        label: 'Buyer reference',
        maxLength: 100,
        description: 'Such as a Leitweg-ID. Leave empty for the customer number.',
      },
      {
        name: 'document_language',
        label: 'Language',
        kind: 'choice',
        options: [
          { value: '', label: 'By country' },
          ...Object.entries(LANGUAGES).map(([value, label]) => ({ value, label })),
        ],
      },
      {
        name: 'payment_terms',
        label: 'Payment terms',
        maxLength: 300,
        description: 'Leave empty for the company’s terms.',
      },
    ],
  },
];
