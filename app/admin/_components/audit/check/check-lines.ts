import type { AuditRow } from '@/lib/audit/audit-log';
import { toChecked } from '@/lib/sync/staff/check-with-stripe';
import { failureText } from '../../display/failure-text';
import { changedField, changedRecord, changeText } from '../changed-record';

/** What a check with Stripe found, a line for each change and each failure. */
export function checkLines(entry: Pick<AuditRow, 'after'>, timeZone: string): string[] {
  const { changes, failures } = toChecked(entry);
  const lines = [
    ...changes.map((change) => {
      const { kind } = changedRecord({ ...change, record: null });
      return `${kind}, ${changedField(change).toLowerCase()}: ${changeText(change, timeZone)}`;
    }),
    ...failures.map((code) => `Stripe’s answer was incomplete. ${failureText(code)}`),
  ];
  return lines.length > 0 ? [...new Set(lines)] : ['Everything matched Stripe.'];
}
