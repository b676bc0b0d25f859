export const STEPS = {
  send: {
    label: 'Mark as sent',
    question: 'Mark this document as sent?',
    consequences: [
      'Its content can no longer be changed.',
      'This service sends no e-mail: give the document to the customer yourself.',
    ],
    isNext: true,
  },
  accept: {
    label: 'Mark as accepted',
    question: 'Has the customer accepted it?',
    consequences: ['It can then be converted.'],
    isNext: true,
  },
  reject: {
    label: 'Mark as rejected',
    question: 'Has the customer rejected it?',
    consequences: ['This cannot be undone.'],
    isGrave: true,
  },
  expire: {
    label: 'Mark as expired',
    question: 'Has it expired?',
    consequences: ['This cannot be undone.'],
    isGrave: true,
  },
};

export const CONVERSIONS = {
  order_confirmation: { label: 'Create order confirmation', noun: 'an order confirmation' },
  invoice: { label: 'Create invoice', noun: 'an invoice' },
};

export const DONE = {
  created: 'The draft is saved.',
  saved: 'Your changes are saved.',
  send: 'The document is marked as sent. No e-mail was sent.',
  accept: 'The document is accepted.',
  reject: 'The document is rejected.',
  expire: 'The document has expired.',
};
