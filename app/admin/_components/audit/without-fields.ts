import type { AuditRow } from '@/lib/audit/audit-log';

/** Entries of the audit log without fields that a page shows better elsewhere. */
export function withoutFields(entries: AuditRow[], ...fields: string[]): AuditRow[] {
  const rest = (image: AuditRow['before']) =>
    image && Object.fromEntries(Object.entries(image).filter(([field]) => !fields.includes(field)));
  return entries.map((entry) => ({ ...entry, before: rest(entry.before), after: rest(entry.after) }));
}
