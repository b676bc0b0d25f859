import type { OverdueAge } from '@/lib/invoices/overdue-worklist';

const TEXTS: Record<OverdueAge | 'over-30', string> = {
  'not-due': 'Payment failed, not due yet',
  '1-14': '1–14 days',
  '15-30': '15–30 days',
  '31-60': '31–60 days',
  'over-60': 'Over 60 days',
  'over-30': 'Over 30 days',
};

/** How long something has been overdue. */
export const ageText = (age: OverdueAge | 'over-30'): string => TEXTS[age];
