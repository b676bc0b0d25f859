import { COMPANY_LENGTHS, MAX_LOGO_BYTES } from '@/lib/documents/company';
import type { FormField } from '../../_components/forms/field';

/** The fields of the company form. Each value is the kind of field that `staffFormAction` reads. */
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
  other_ibans: 'text',
  payment_terms: 'text',
  footer: 'text',
  logo: 'text',
} as const;

const LABELS: Record<keyof typeof COMPANY_FORM, Omit<FormField, 'name'>> = {
  name: { label: 'Name' },
  street: { label: 'Street' },
  postal_code: { label: 'Postal code' },
  city: { label: 'City' },
  country: { label: 'Country', description: 'Its name, or its two letters.' },
  vat_id: { label: 'VAT ID' },
  tax_number: { label: 'Tax number', description: 'Documents need it or the VAT ID.' },
  small_business: {
    label: 'Small business (section 19 UStG)',
    kind: 'flag',
    description: 'Invoices charge no VAT, and say why.',
  },
  register_entry: {
    label: 'Register entry',
    description: 'Such as Amtsgericht Musterstadt, HRB 12345.',
  },
  contact_name: { label: 'Contact', description: 'A person or a department.' },
  contact_phone: { label: 'Telephone' },
  contact_email: { label: 'E-mail' },
  bank_name: { label: 'Bank' },
  iban: { label: 'IBAN' },
  bic: { label: 'BIC' },
  other_ibans: {
    label: 'IBANs of other accounts',
    description:
      'Separated by commas. Their bank statements can be uploaded too. Documents do not show them.',
  },
  payment_terms: {
    label: 'Payment terms',
    description: 'Replaces the sentence that states the due date. Leave empty unless your terms differ.',
  },
  footer: { label: 'Footer', description: 'One more line at the end of each page.' },
  logo: {
    label: 'Logo',
    type: 'file',
    accept: 'image/png,image/jpeg',
    maxBytes: MAX_LOGO_BYTES,
    description: 'PNG or JPEG, up to 200 KB. New invoices show it at the top.',
  },
};

const LENGTHS: Record<string, number> = COMPANY_LENGTHS;

/** The declarations of the fields, in the order of the form. */
export const COMPANY_FIELDS: FormField[] = Object.entries(LABELS).map(([name, field]) => {
  const maxLength = LENGTHS[name];
  return { name, ...field, ...(maxLength && { maxLength }) };
});

/** An additional field that is shown only if the company has a logo. */
export const REMOVE_LOGO: FormField = { name: 'remove_logo', label: 'Remove the logo', kind: 'flag' };
