export const STEPS = {
  send: {
    label: 'Send',
    question: 'Send this invoice?',
    consequences: [
      'It takes its number and counts as sent; its lines cannot be changed any more. No e-mail goes out.',
    ],
  },
  cancel: {
    label: 'Cancel invoice',
    question: 'Cancel this invoice?',
    consequences: ['It keeps its number and is owed no more, for good.'],
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
