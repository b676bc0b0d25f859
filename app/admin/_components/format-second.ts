/** An instant to the second, "1 Mar 2026, 14:05:33": what Stripe's events are told apart by. */
export function formatSecond(instant: Date, timeZone: string): string {
  return new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium', timeZone }).format(
    instant,
  );
}
