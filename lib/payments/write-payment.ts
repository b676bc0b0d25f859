import type { Database } from '@/db/database';
import { perProcess } from '@/db/per-process';
import { Bulkhead } from '@/db/transaction';
import { toCalendarDate } from '../dates';
import { idInText, isVersionConflict, type Written } from '../store/commit';
import { includesKeys, isEmpty, type Keys, type StoredPayment } from '../store/snapshot';
import { databaseStore, type Store } from '../store/store';
import {
  decidePayment,
  findChanged,
  keysOfChange,
  type PaymentDecision,
  PaymentDraft,
  warnOfExcess,
} from './decide-payment';
import {
  type PaymentChange,
  type PaymentInput,
  type PaymentRow,
  type PaymentWriter,
  type Precondition,
  type Refunded,
  type RequestedChanges,
  toPaymentRow,
  type WrittenPayment,
} from './schema';

/** Returns the `PaymentWriter` for a program with an access token. */
export function apiWriter(
  { now, env }: { now(): Date; env: { timeZone: string } },
  token: { id: number; name: string },
): PaymentWriter {
  return {
    actor: { type: 'token', id: String(token.id), name: token.name },
    source: 'api',
    now: now(),
    clock: now,
    timeZone: env.timeZone,
  };
}

/**
 * Creates a payment, or updates the payment with the same reference. If several calls use the same new reference at the
 * same time, exactly one of them creates the payment.
 *
 * @returns the payment; `warning` is set if more is now recorded for a Stripe invoice than Stripe asks for
 * @param options.onlyNew whether to refuse a known reference instead of updating it
 * @param options.precondition function that checks the current payment, or null if it does not exist
 * @throws AppError in the same cases as `decidePayment`, for example conflict if `onlyNew` is set and the reference is
 *   known
 */
export async function recordPayment(
  db: Database,
  input: PaymentInput & Refunded,
  writer: PaymentWriter,
  options: Pick<PaymentChange & { kind: 'record' }, 'onlyNew' | 'precondition'> = {},
): Promise<{ payment: PaymentRow; created: boolean; warning: string | undefined }> {
  const { before, after, warning } = await writePayment(
    databaseStore(db),
    { kind: 'record', input, ...options },
    writer,
  );
  return { payment: toPaymentRow(existing(after)), created: before === null, warning };
}

/**
 * Changes some fields of a payment. The caller must have checked that the writer may change it.
 *
 * @param changes the new values, or a function that derives them from the payment (see `RequestedChanges`)
 * @throws AppError in the same cases as `decidePayment`, for example validation_failed for a changed read-only field
 */
export async function updatePayment(
  db: Database,
  id: number,
  changes: RequestedChanges,
  writer: PaymentWriter,
  precondition?: Precondition,
): Promise<WrittenPayment> {
  const change = { kind: 'update', id, changes, precondition } as const;
  const { after, warning } = await writePayment(databaseStore(db), change, writer);
  return { ...toPaymentRow(existing(after)), ...(warning && { warning }) };
}

function existing(payment: StoredPayment | null): StoredPayment {
  if (!payment) throw new Error('a written payment is missing');
  return payment;
}

/**
 * Deletes a payment. Its last state stays in the audit log. A payment that Stripe reported leaves a tombstone, so that
 * sync does not record it again.
 *
 * @throws AppError not_found; precondition_failed; conflict for a share of a transfer that was refunded, even in part
 */
export async function deletePayment(
  db: Database,
  id: number,
  writer: PaymentWriter,
  precondition?: Precondition,
): Promise<void> {
  await writePayment(databaseStore(db), { kind: 'delete', id, precondition }, writer);
}

/** A written change. `warning` is a sentence for the writer, or undefined. */
export interface WrittenChange extends PaymentDecision {
  warning: string | undefined;
}

/** Reads, decides and commits one change. @throws AppError if it is refused, see `decidePayment` */
export async function writePayment(
  store: Store,
  change: PaymentChange,
  writer: PaymentWriter,
): Promise<WrittenChange> {
  const turn = change.kind === 'record' ? `invoice ${change.input.invoice_id}` : `payment ${change.id}`;
  const { result, written } = await decideAndCommit(store, turn, writer, {
    keys: (draft) => keysOfChange(change, draft && findChanged(draft.snapshot, change)),
    decide: (draft) => decidePayment(draft, change, writer),
    conclude: (draft, decision) => ({ ...decision, warning: warnOfExcess(draft, decision) }),
  });
  return written ? toWrittenChange(result, written) : result;
}

/** Replaces the temporary id, the version and the times of a change with the values that the commit wrote. */
function toWrittenChange({ before, after, warning }: WrittenChange, { at, ids }: Written): WrittenChange {
  if (!after || after === before) return { before, after, warning };
  const id = ids.get(after.id) ?? after.id;
  return {
    before,
    after: before
      ? { ...after, version: before.version + 1, updated_at: at }
      : { ...after, id, created_at: at, updated_at: at },
    warning: warning?.replaceAll(idInText(after.id), String(id)),
  };
}

/** Maximum number of retries of a write after conflicts. During a retry, the invoices are locked. */
const MOST_CONFLICTS = 3;
const MOST_READS = 3;

interface Question<Decision, Result> {
  /** Returns the keys of the rows that the decision needs. The rows read so far can add keys. */
  keys(draft?: PaymentDraft): Keys;
  decide(draft: PaymentDraft): Decision;
  conclude(draft: PaymentDraft, decision: Decision): Result;
}

/**
 * Reads, decides and commits. The commit compares the versions of the rows that it changes, and of the invoices whose
 * payments it changes. After a conflict with another write, repeats all steps, up to three times, while the invoices
 * are locked.
 *
 * @param turn the key of a queue. Writes with the same key would conflict, so they run one after the other within a
 *   process. If null, the write does not wait in a queue.
 */
export async function decideAndCommit<Decision, Result>(
  store: Store,
  turn: string | null,
  writer: PaymentWriter,
  question: Question<Decision, Result>,
): Promise<{ result: Result; written: Written | null }> {
  const { now, clock = () => now, timeZone } = writer;
  const bookedOn = () => ({ today: toCalendarDate(clock(), timeZone), timeZone });
  let keys = question.keys();
  let invoiceIds: number[] = [];
  const attempt = async (on: Store) => {
    for (let reads = 1; reads <= MOST_READS; reads += 1) {
      const draft = new PaymentDraft(await on.read(keys));
      const needed = question.keys(draft);
      if (includesKeys(keys, needed)) {
        const decision = question.decide(draft);
        draft.settle(writer);
        ({ invoiceIds } = draft);
        const result = question.conclude(draft, decision);
        const plan = draft.toPlan();
        const given = { plan, events: [], runId: null, bookedOn };
        return { result, written: isEmpty(plan) ? null : await on.commit(given, turn ?? undefined) };
      }
      keys = needed;
    }
    throw new Error('a decision lacks something however much is read');
  };
  for (let conflicts = 0; ; ) {
    try {
      if (conflicts > 0) return await store.locked(lockKeyOf(invoiceIds), attempt, invoiceIds);
      return await (turn === null ? attempt(store) : turnsOf(store).run(turn, () => attempt(store)));
    } catch (error) {
      conflicts += 1;
      if (conflicts > MOST_CONFLICTS || !isVersionConflict(error)) throw error;
    }
  }
}

const lockKeyOf = (invoiceIds: number[]) =>
  invoiceIds.length === 0 ? null : `payments of invoice ${Math.min(...invoiceIds)}`;

const turns = perProcess('payment turns', () => new WeakMap<object, Bulkhead>());

function turnsOf({ scope }: Store): Bulkhead {
  const known = turns.get(scope);
  if (known) return known;
  const made = new Bulkhead({ atOnce: 1000, perKey: 1, waiting: 1000, patience: 20_000 });
  turns.set(scope, made);
  return made;
}
