import { asc } from 'drizzle-orm';
import { stripeCustomers } from '@/db/schema';
import { StartError } from '../../errors';
import { literal } from '../../page-query';
import { probeAccount } from '../../stripe/probe-account';
import type { SyncDeps } from '../sync-deps';
import type { StripeDeps } from './step';

/** How many that are here Stripe is asked for at most: one that it knows is enough. */
const ASKED_FOR = 3;

/** With the key of another account or mode, a run would take all for deleted. @throws StartError */
export async function requireAccount(deps: SyncDeps): Promise<StripeDeps> {
  const { db, stripe } = deps;
  if (!stripe) throw new StartError(['STRIPE_SECRET_KEY is not set: Stripe cannot be asked.']);
  const known = await db
    .select({ id: stripeCustomers.stripe_customer_id })
    .from(stripeCustomers)
    .orderBy(asc(stripeCustomers.stripe_customer_id))
    .limit(literal(ASKED_FOR));
  const probe = await probeAccount(
    stripe,
    known.map(({ id }) => id),
  );
  if (probe === 'refused') {
    throw new StartError(['Stripe refuses STRIPE_SECRET_KEY: take one that its dashboard shows as active.']);
  }
  if (probe === 'other') {
    throw new StartError([
      'Stripe knows none of the Stripe customers that are here: STRIPE_SECRET_KEY is for another account or the wrong mode (test or live).',
    ]);
  }
  if (probe !== 'known') throw new StartError([`Stripe does not answer (${probe.silent}): try again later.`]);
  return { ...deps, stripe };
}
