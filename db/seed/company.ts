import type { company } from '../schema';

/** The company of the sample data. Its tax numbers and its account are examples that belong to no company. */
export const DEMO_COMPANY: typeof company.$inferInsert = {
  name: 'Muster Hosting GmbH',
  street: 'Beispielweg 5',
  postal_code: '10115',
  city: 'Berlin',
  country: 'DE',
  vat_id: 'DE000000000',
  tax_number: '00/000/00000',
  register_entry: 'Amtsgericht Musterstadt, HRB 00000',
  contact_name: 'Buchhaltung',
  contact_phone: '+49 30 23125000',
  contact_email: 'rechnung@muster-hosting.example',
  bank_name: 'Musterbank',
  iban: 'DE89370400440532013000',
  bic: 'COBADEFFXXX',
};
