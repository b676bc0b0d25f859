const STRIPE = 'Nothing changes at Stripe: a subscription there continues.';

export const STEPS = {
  activate: { label: 'Activate', question: 'Activate this service?', consequences: [STRIPE] },
  suspend: { label: 'Suspend', question: 'Suspend this service?', consequences: [STRIPE] },
  resume: {
    label: 'Resume',
    question: 'Resume this service?',
    consequences: [`It is active again. ${STRIPE}`],
  },
  cancel: {
    label: 'Cancel service',
    question: 'Cancel this service?',
    consequences: [`It counts as cancelled from now on. ${STRIPE}`],
    decline: 'Keep it',
    isGrave: true,
  },
  terminate: {
    label: 'Terminate',
    question: 'Terminate this service?',
    consequences: [`It cannot be resumed. ${STRIPE}`],
    isGrave: true,
  },
};

export const DONE = {
  created: 'The service is created.',
  saved: 'Your changes are saved.',
  activate: 'The service is active.',
  suspend: 'The service is suspended.',
  resume: 'The service is active again.',
  cancel: 'The service is cancelled.',
  terminate: 'The service is terminated.',
};

export const KEPT =
  'Other records refer to this service, so it cannot be deleted. Cancel or terminate it instead.';
