const STAYS =
  'It is marked as inactive in lists and forms. Services, subscriptions and invoices stay as they are, and nothing changes at Stripe.';

export const STEPS = {
  reactivate: {
    label: 'Reactivate',
    question: 'Reactivate this customer?',
    consequences: ['It is active again.'],
  },
  deactivate: { label: 'Deactivate', question: 'Deactivate this customer?', consequences: [STAYS] },
};

export const DONE = {
  created: 'The customer is created.',
  saved: 'Your changes are saved.',
  noted: 'The note is added.',
  merged: 'The customers are merged.',
  led_on: 'The customer that you opened was merged into this one.',
  reactivate: 'The customer is active again.',
  deactivate: 'The customer is inactive now.',
  erased: 'The customer is erased.',
};

export const KEPT = 'Other records refer to this customer, so it cannot be deleted. Deactivate it instead.';

export const ERASED =
  'This customer was erased: its invoices, payments and documents are kept without personal data.';
