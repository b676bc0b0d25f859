const STAYS = 'Services on it stay as they are.';

export const STEPS = {
  maintain: {
    label: 'Start maintenance',
    question: 'Start maintenance on this server?',
    consequences: [STAYS],
  },
  reactivate: {
    label: 'Back to active',
    question: 'Make this server active again?',
    consequences: ['It can be chosen for services.'],
  },
  decommission: {
    label: 'Decommission',
    question: 'Decommission this server?',
    consequences: [`${STAYS} No new ones can be added.`],
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
