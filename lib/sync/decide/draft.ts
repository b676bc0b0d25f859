import type { FieldChange } from '@/db/schema';
import type { AuditEntry } from '../../audit/audit-log';
import type { Fetched, ProviderObjects } from '../../stripe/fetch';
import type { ProviderSubscriptionItem } from '../../stripe/provider';
import type { StaffTask } from '../../tasks/staff-tasks';
import type { Snapshot } from '../store/snapshot';
import { Lookups } from './lookups';

export interface Wanted extends ProviderObjects {
  /** All of a subscription, by its id. */
  items: ProviderSubscriptionItem[];
  /** When Stripe last collected for an invoice, by its id. */
  collectedAt: Date | null;
  /** The invoice that a payment intent was made for. */
  invoicePaid: string | null;
}
export type WantedKind = keyof Wanted;

export interface Settings {
  now: Date;
  timeZone: string;
  linkByEmail: boolean;
}

/** @param version of the Stripe customer's link, as the snapshot has it */
export type Answers = <K extends WantedKind>(
  kind: K,
  id: string,
  version: number | null,
) => Fetched<Wanted[K]> | undefined;

/** A decision that lacks data runs to its end; its changes are discarded, and it is made again with more data. */
export class Draft extends Lookups {
  readonly changes: FieldChange[] = [];
  readonly warnings = new Set<string>();
  /** Stripe customers whose link now leads to another customer, or has become sure. */
  readonly moved: string[] = [];
  /** Stripe customers whose rows all move to another customer, including rows that were not read. */
  readonly moves: { stripe_customer_id: string; customer_id: number }[] = [];
  /** All invoices of one subscription become those of another, including those that were not read. */
  readonly handedOver: { from: number; to: number }[] = [];
  /** Stripe customers that this decision concerns. Their versions are raised even if no row changes. */
  readonly concerned = new Set<string>();
  readonly audits: AuditEntry[] = [];
  readonly tasks: StaffTask[] = [];
  /** Tasks that are done by themselves. */
  readonly tasksOver: Pick<StaffTask, 'kind' | 'subject'>[] = [];
  readonly abandoned: number[] = [];
  wanted: { kind: WantedKind; id: string; version: number | null } | undefined;
  unreported: { what: string; reason: string } | undefined;
  private lastId = 0;

  constructor(
    snapshot: Snapshot,
    readonly settings: Settings,
    private readonly answers: Answers,
  ) {
    super(snapshot);
  }

  get now(): Date {
    return this.settings.now;
  }
  get timeZone(): string {
    return this.settings.timeZone;
  }

  get isIncomplete(): boolean {
    return this.wanted !== undefined || this.isMissing;
  }

  /** For a row that is not stored yet: below 0, until the commit gives it its own. */
  newId(): number {
    this.lastId -= 1;
    return this.lastId;
  }

  /** @param rowVersion of the row that Stripe is asked for, where its Stripe customer is not known */
  ask<K extends WantedKind>(
    kind: K,
    id: string,
    stripeCustomerId: string,
    rowVersion: number | null = null,
  ): Fetched<Wanted[K]> {
    const version = this.links.before(stripeCustomerId)?.version ?? rowVersion;
    const answer = this.answers(kind, id, version);
    if (answer) return answer;
    this.wanted ??= { kind, id, version };
    return { state: 'unavailable', reason: 'not_asked_yet' };
  }

  /** Tells staff of something once, and says among the changes that it was reported. */
  tell(task: StaffTask, about: Pick<FieldChange, 'entity' | 'entity_id' | 'stripe_id'>): void {
    const isKnown = this.tasks.some(({ kind, subject }) => kind === task.kind && subject === task.subject);
    if (isKnown || this.isTold(task)) return;
    this.tasks.push(task);
    this.changes.push({ ...about, field: task.kind, before: null, after: null, outcome: 'reported' });
  }

  /** Leaves it undecided, because Stripe did not tell what the daily job has to know. */
  leave(what: string, fetched: Exclude<Fetched<unknown>, { state: 'found' }>): void {
    this.unreported ??= { what, reason: fetched.state === 'gone' ? 'gone' : fetched.reason };
  }
}
