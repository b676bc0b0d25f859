import type { stripeEvents } from '@/db/schema';
import type { AuditRow } from '../audit/list-audit';
import type { CustomerNote } from '../customers/notes';
import type { MoneyBackRow } from '../payments/money-back-rows';
import type { PaymentRow } from '../payments/schema';
import type { NamedChange } from '../sync/reconcile/name-changes';
import type { ToolCallRow } from '../tool-calls/list-tool-calls';

/** Something that happened to a customer. */
export type TimelineEntry = { at: Date } & (
  | { kind: 'payment'; payment: TimelinePayment; isDayOnly: boolean }
  | { kind: 'money_back'; row: MoneyBackRow }
  | { kind: 'event'; event: TimelineEvent }
  | { kind: 'changes'; run_id: number; changes: NamedChange[] }
  | { kind: 'note'; note: CustomerNote }
  | { kind: 'audit'; audit: TimelineAudit }
  | { kind: 'call'; call: ToolCallRow }
);

export type TimelinePayment = Pick<
  PaymentRow,
  'id' | 'invoice_id' | 'amount' | 'currency' | 'payment_date' | 'payment_reference' | 'status' | 'source'
> & { invoice_number: string | null };

export type TimelineEvent = Pick<
  typeof stripeEvents.$inferSelect,
  'id' | 'type' | 'object_id' | 'stripe_created' | 'outcome'
>;

export type TimelineAudit = AuditRow & { entity: string; entity_id: number };

/** A kind of what happens: what of it lies behind one of its own cursors, the newest first. */
export interface Source {
  isCursor(text: string): boolean;
  read(cursor: string | null, limit: number): Promise<{ entry: TimelineEntry; cursor: string }[]>;
}
