const STATES = {
  // As it should be.
  green: ['accepted', 'active', 'completed', 'fixed', 'ok', 'paid', 'processed', 'succeeded', 'valid', 'won'],
  // On its way.
  blue: ['order', 'pending', 'running', 'sent', 'trialing', 'under_review', 'warning_under_review'],
  // A person should look at it.
  orange: [
    'completed_with_errors',
    'disputed',
    'expired',
    'incomplete',
    'interrupted',
    'maintenance',
    'needs_response',
    'overdue',
    'past_due',
    'paused',
    'refused',
    'reported',
    'suspended',
    'unmatched',
    'validation_failed',
    'warning_needs_response',
  ],
  // Something does not work, or money is missing.
  red: ['blocked', 'error', 'failed', 'lost', 'offline', 'unpaid'],
  // Over, or not begun.
  gray: [
    'cancelled',
    'converted',
    'decommissioned',
    'deleted',
    'draft',
    'ignored',
    'inactive',
    'not_found',
    'prevented',
    'refunded',
    'rejected',
    'revoked',
    'stale',
    'terminated',
    'warning_closed',
  ],
};

/** The colour of each state of our enums. */
export const STATUS_COLORS: ReadonlyMap<string, string> = new Map(
  Object.entries(STATES).flatMap(([color, states]) => states.map((state) => [state, color] as const)),
);

/** The colour of a state, also where it is no badge. */
export const statusColor = (status: string): string => STATUS_COLORS.get(status) ?? 'gray';
