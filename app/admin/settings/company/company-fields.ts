import type { FormField } from '../../_components/forms/field';

/** The fields of the company's form, and how each is read. */
export const COMPANY_FORM = {
  name: 'text',
  street: 'text',
  postal_code: 'text',
  city: 'text',
  country: 'text',
  vat_id: 'text',
  tax_number: 'text',
  small_business: 'flag',
  register_entry: 'text',
  contact_name: 'text',
  contact_phone: 'text',
  contact_email: 'text',
  bank_name: 'text',
  iban: 'text',
  bic: 'text',
  payment_terms: 'text',
  footer: 'text',
} as const;

const LABELS: Record<keyof typeof COMPANY_FORM, Omit<FormField, 'name'>> = {
  name: { label: 'Name', maxLength: 200 },
  street: { label: 'Street', maxLength: 200 },
  postal_code: { label: 'Postal code', maxLength: 20 },
  city: { label: 'City', maxLength: 200 },
  country: { label: 'Country', description: 'Its name, or its two letters.' },
  vat_id: { label: 'VAT ID', maxLength: 50 },
  tax_number: { label: 'Tax number', maxLength: 50, description: 'Documents need it or the VAT ID.' },
  small_business: {
    label: 'Small business (section 19 UStG)',
    kind: 'flag',
    description: 'Invoices charge no VAT, and say why.',
  },
  register_entry: {
    label: 'Register entry',
    maxLength: 200,
    description: 'Such as Amtsgericht Musterstadt, HRB 12345.',
  },
  contact_name: { label: 'Contact', maxLength: 200, description: 'A person or a department.' },
  contact_phone: { label: 'Telephone', maxLength: 100 },
  contact_email: { label: 'E-mail', maxLength: 254 },
  bank_name: { label: 'Bank', maxLength: 200 },
  iban: { label: 'IBAN', maxLength: 50 },
  bic: { label: 'BIC', maxLength: 20 },
  payment_terms: {
    label: 'Payment terms',
    maxLength: 300,
    description: 'Replaces the sentence with the due date. Leave it empty unless your terms differ.',
  },
  footer: { label: 'Footer', maxLength: 300, description: 'One more line at the end of each page.' },
};

/** The declarations of the fields, in the order of the form. */
export const COMPANY_FIELDS: FormField[] = Object.entries(LABELS).map(([name, field]) => ({
  name,
  ...field,
}));
