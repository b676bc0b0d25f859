export const STEPS = {
  send: {
    label: 'Mark as sent',
    question: 'Mark this document as sent?',
    consequences: ['Its content cannot be changed any more. No e-mail goes out.'],
  },
  accept: {
    label: 'Mark as accepted',
    question: 'Has the customer accepted it?',
    consequences: ['It can be converted then.'],
  },
  reject: {
    label: 'Mark as rejected',
    question: 'Has the customer rejected it?',
    consequences: ['This is for good.'],
    isGrave: true,
  },
  expire: {
    label: 'Mark as expired',
    question: 'Has it expired?',
    consequences: ['This is for good.'],
    isGrave: true,
  },
};

export const CONVERSIONS = {
  order_confirmation: { label: 'Make order confirmation', noun: 'an order confirmation' },
  invoice: { label: 'Make invoice', noun: 'an invoice' },
};

export const DONE = {
  created: 'The draft is saved.',
  saved: 'Your changes are saved.',
  send: 'The document is sent.',
  accept: 'The document is accepted.',
  reject: 'The document is rejected.',
  expire: 'The document has expired.',
};
