import { formatDate, formatDay } from '@/app/_components/format';

interface Billed {
  status: string;
  next_billing_date: string | null;
  cancel_at: Date | null;
}

/** When a subscription is billed next, or ends; a dash once it has ended. */
export function nextBilling({ status, next_billing_date, cancel_at }: Billed, timeZone: string): string {
  if (status === 'cancelled') return '–';
  if (cancel_at) return `Ends ${formatDay(cancel_at, timeZone)}`;
  return next_billing_date ? formatDate(next_billing_date) : '–';
}
