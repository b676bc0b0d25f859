export const STEPS = {
  send: {
    label: 'Send',
    question: 'Send this invoice?',
    consequences: [
      'It gets its number and counts as sent; its lines can no longer be changed. No e-mail is sent.',
    ],
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
  send: 'The invoice is sent.',
  cancel: 'The invoice is cancelled.',
};
