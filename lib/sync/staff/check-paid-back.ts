import { eq } from 'drizzle-orm';
import { disputes, payments, refunds } from '@/db/schema';
import { type ListRequest, listProviderDisputes, listProviderRefunds } from '../../stripe/list';
import { listIntents } from '../../stripe/list-intents';
import { applyObject, keysOfProvided, type Provided } from '../decide/apply-object';
import { attachPayment } from '../decide/money-back/attach-payment';
import { attempt, type Check, perform, retrieve } from './check';

/** All that Stripe lists of it, and what we hold and it does not list. */
export async function checkPaidBack(check: Check, paymentId: number, invoice: string | null): Promise<void> {
  await attempt(check, async () => {
    const listed = new Set<string>();
    for (const charge of await chargesOf(check, paymentId, invoice)) {
      await applyAll(check, 'refund', charge, listed);
      await applyAll(check, 'dispute', charge, listed);
    }
    for (const { kind, id } of await stored(check, paymentId)) {
      if (id !== null && !listed.has(id)) await retrieve(check, kind, id);
    }
  });
}

type Of = NonNullable<ListRequest['of']>;

/** Payment intents, or a charge that staff or the API named. */
async function chargesOf({ deps }: Check, paymentId: number, invoice: string | null): Promise<Of[]> {
  const [payment] = await deps.db.select().from(payments).where(eq(payments.id, paymentId));
  const { payment_reference: reference = '', stripe_payment_intent_id: own = null } = payment ?? {};
  const named = [own, reference].filter((id) => id?.startsWith('pi_')) as string[];
  const intents = new Set([...named, ...(invoice ? await listIntents(deps.stripe, invoice) : [])]);
  return [
    ...[...intents].map((payment_intent) => ({ payment_intent })),
    ...(reference.startsWith('ch_') ? [{ charge: reference }] : []),
  ];
}

const LISTS = { refund: listProviderRefunds, dispute: listProviderDisputes };

async function applyAll(check: Check, kind: keyof typeof LISTS, of: Of, listed: Set<string>): Promise<void> {
  const { stripe, now } = check.deps;
  const read = (after: string | null) =>
    LISTS[kind](stripe, now, { status: null, createdFrom: null, after, of });
  for (let page = await read(null); ; page = await read(page.next)) {
    for (const value of page.objects) {
      listed.add(value.id);
      const object = { kind, value } as Provided;
      await perform(check, {
        stripeCustomerId: null,
        keys: keysOfProvided(object),
        decide: (draft) => {
          applyObject(draft, object, { origin: 'listed', asOf: page.asOf });
          attachPayment(draft, kind, value.id);
        },
      });
    }
    check.failures.push(...page.refused.map(({ error }) => error.name));
    if (page.next === null) return;
  }
}

async function stored({ deps: { db } }: Check, paymentId: number) {
  const ofRefunds = await db
    .select({ id: refunds.stripe_refund_id })
    .from(refunds)
    .where(eq(refunds.payment_id, paymentId));
  const ofDisputes = await db
    .select({ id: disputes.stripe_dispute_id })
    .from(disputes)
    .where(eq(disputes.payment_id, paymentId));
  return [
    ...ofRefunds.map(({ id }) => ({ kind: 'refund' as const, id })),
    ...ofDisputes.map(({ id }) => ({ kind: 'dispute' as const, id })),
  ];
}
