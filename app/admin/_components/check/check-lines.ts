import type { AuditRow } from '@/lib/audit/list-audit';
import { toChecked } from '@/lib/sync/staff/last-check';
import { changedField, changedRecord, changeText } from '../changed-record';
import { failureText } from '../failure-text';

/** What a check with Stripe found, a line for each change and each failure. */
export function checkLines(entry: Pick<AuditRow, 'after'>, timeZone: string): string[] {
  const { changes, failures } = toChecked(entry);
  const lines = [
    ...changes.map((change) => {
      const { kind } = changedRecord({ ...change, record: null });
      return `${kind}, ${changedField(change).toLowerCase()}: ${changeText(change, timeZone)}`;
    }),
    ...failures.map((code) => `Stripe did not tell all of it. ${failureText(code)}`),
  ];
  return lines.length > 0 ? [...new Set(lines)] : ['Everything was as Stripe has it.'];
}
