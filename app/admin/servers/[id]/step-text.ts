const STAYS = 'Services on it stay as they are.';

export const STEPS = {
  maintain: {
    label: 'Start maintenance',
    question: 'Start maintenance of this server?',
    consequences: [STAYS],
  },
  reactivate: {
    label: 'Back to active',
    question: 'Put this server back to active?',
    consequences: ['It can be chosen for services.'],
  },
  decommission: {
    label: 'Decommission',
    question: 'Decommission this server?',
    consequences: [`${STAYS} New ones cannot be put on it.`],
    isGrave: true,
  },
};

export const DONE = {
  created: 'The server is created.',
  saved: 'Your changes are saved.',
  maintain: 'The server is in maintenance.',
  reactivate: 'The server is active again.',
  decommission: 'The server is decommissioned.',
};

export const KEPT = 'Services run on this server, so it cannot be deleted. Decommission it instead.';
