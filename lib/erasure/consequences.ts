/** The consequences that are shown before a customer is erased. */
export const CONSEQUENCES = [
  'The law requires you to keep invoices, with the recipient’s name and address, for years (eight in Germany): make sure that you have them as documents outside this service.',
  'Names, addresses, the e-mail address, phone numbers, the VAT ID and notes are removed permanently, including from the history and the data Stripe sent. Invoices, payments and documents stay, with numbers, amounts and dates.',
  'Anything Stripe sends about this customer later is still recorded, without personal data. Nothing is erased at Stripe, in backups, or in exported or imported files.',
];
