export const STEPS = {
  send: {
    label: 'Issue',
    question: 'Issue this invoice?',
    consequences: [
      'It gets its number and its lines can no longer be changed.',
      'This service sends no e-mail: give the invoice to the customer yourself.',
    ],
    isNext: true,
  },
  cancel: {
    label: 'Cancel invoice',
    question: 'Cancel this invoice?',
    consequences: ['It keeps its number and is no longer owed. This cannot be undone.'],
    decline: 'Keep it',
    isGrave: true,
  },
};

export const DONE = {
  created: 'The draft is saved.',
  saved: 'Your changes are saved.',
  send: 'The invoice is issued. No e-mail was sent.',
  cancel: 'The invoice is cancelled.',
};
