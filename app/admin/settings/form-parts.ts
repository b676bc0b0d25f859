import { COMPANY_LENGTHS, MAX_LOGO_BYTES } from '@/lib/documents/company';
import type { FormField } from '../_components/forms/field';

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
  logo: 'text',
} as const;

const COMPANY_LABELS: Record<keyof typeof COMPANY_FORM, Omit<FormField, 'name'>> = {
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
  payment_terms: {
    label: 'Payment terms',
    description: 'Replaces the sentence with the due date. Leave it empty unless your terms differ.',
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
export const COMPANY_FIELDS: FormField[] = Object.entries(COMPANY_LABELS).map(([name, field]) => {
  const maxLength = LENGTHS[name];
  return { name, ...field, ...(maxLength && { maxLength }) };
});

/** The field that is shown if there is a logo. */
export const REMOVE_LOGO: FormField = { name: 'remove_logo', label: 'Remove the logo', kind: 'flag' };

/** The names of the fields of the accounting form. */
export const ACCOUNTING_FORM = [
  'consultant_number',
  'client_number',
  'fiscal_year_month',
  'account_length',
  'debtor',
  'debtor_base',
  'revenue',
  'write_off',
  'payment_stripe',
  'payment_staff',
  'payment_api',
  'payment_import',
  'balance',
  'paid_elsewhere',
] as const;

const account = (label: string, description?: string): Omit<FormField, 'name'> => ({
  ...{ label, inputMode: 'numeric', maxLength: 20 },
  ...(description !== undefined && { description }),
});

const ACCOUNT_LABELS: Record<(typeof ACCOUNTING_FORM)[number], Omit<FormField, 'name'>> = {
  consultant_number: account('Consultant number', 'Your tax consultant knows it (Beraternummer).'),
  client_number: account('Client number', 'Your number at the tax consultant (Mandantennummer).'),
  fiscal_year_month: account('First month of the fiscal year', '1 for January.'),
  account_length: account('Length of accounts', 'Digits of a general ledger account, 4 to 8.'),
  debtor: account('Collective debtor account', 'One account for all customers.'),
  debtor_base: account(
    'First debtor account',
    'Such as 10000. Each customer has an account of its own: this one plus the customer number.',
  ),
  revenue: {
    label: 'Revenue accounts',
    kind: 'list',
    description: 'A line for each tax category and rate, such as S 19 8400. A BU key may follow.',
  },
  write_off: {
    label: 'Write-off accounts',
    kind: 'list',
    description: 'A line for each rate, such as 19 2406.',
  },
  payment_stripe: account('Payments by Stripe', 'The clearing account of Stripe.'),
  payment_staff: account('Payments that staff recorded', 'Usually your bank account.'),
  payment_api: account('Payments that programs recorded'),
  payment_import: account('Imported payments'),
  balance: account('Balance at Stripe', 'Credit of customers that pays an invoice.'),
  paid_elsewhere: account('Payments that are recorded elsewhere'),
};

/** The declarations of the fields, in the order of the form. */
export const ACCOUNTING_FIELDS: FormField[] = ACCOUNTING_FORM.map((name) => ({
  name,
  ...ACCOUNT_LABELS[name],
}));
