/** What whoever is about to erase a customer is told first. */
export const CONSEQUENCES = [
  'The law makes you keep invoices, with the name and address of whom they were made out to, for years (in Germany eight): make sure that you have them as documents outside of this service.',
  'Names, addresses, the e-mail address, phone numbers, the VAT ID and notes go for good, also from the history and from what Stripe sent. Invoices, payments and documents stay, with numbers, amounts and dates.',
  'What Stripe later sends about this customer is still recorded, without personal data. At Stripe itself nothing is erased, nor in backups, or in files that were exported or imported.',
];
