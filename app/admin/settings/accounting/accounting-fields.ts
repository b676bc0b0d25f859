import type { FormField } from '../../_components/forms/field';

/** Names of the fields of the accounting form. */
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

const LABELS: Record<(typeof ACCOUNTING_FORM)[number], Omit<FormField, 'name'>> = {
  consultant_number: account('Consultant number', 'Your tax consultant knows it (Beraternummer).'),
  client_number: account('Client number', 'Your number at the tax consultant (Mandantennummer).'),
  fiscal_year_month: account('First month of the fiscal year', '1 for January.'),
  account_length: account('Account number length', 'Digits of a general ledger account number, 4 to 8.'),
  debtor: account('Collective debtor account', 'One account for all customers.'),
  debtor_base: account(
    'First debtor account',
    'Such as 10000. Each customer has a separate account: this number plus the customer number.',
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
  balance: account('Balance at Stripe', 'Customer credit used to pay invoices.'),
  paid_elsewhere: account('Payments that are recorded elsewhere'),
};

/** The declarations of the fields, in the order of the form. */
export const ACCOUNTING_FIELDS: FormField[] = ACCOUNTING_FORM.map((name) => ({ name, ...LABELS[name] }));
