import { eq, inArray } from 'drizzle-orm';
import { invoices } from '@/db/schema';
import type { ProviderInvoice } from '../stripe/provider';
import type { SyncDeps } from './sync-deps';
import { toInvoiceState } from './to-invoice-state';
import { isSameState } from './write-changes';

/** Which of a page's invoices we hold just as Stripe does: nothing to lock, nothing to write. */
export async function heldInvoices(
  { db, now, timeZone }: Pick<SyncDeps, 'db' | 'now' | 'timeZone'>,
  provided: ProviderInvoice[],
): Promise<Set<string>> {
  const ids = provided.map(({ id }) => id);
  if (ids.length === 0) return new Set();
  const held = await db.select().from(invoices).where(inArray(invoices.stripe_invoice_id, ids));
  const byId = new Map(held.map((row) => [row.stripe_invoice_id, row]));
  const clock = { now: now(), timeZone, warnings: [] };
  const same = provided.filter((provider) => {
    const row = byId.get(provider.id);
    return (
      row?.provider_as_of &&
      !row.recheck_at &&
      !row.provider_gone_at &&
      !mayHaveFailed(provider, row) &&
      row.stripe_customer_id === (provider.customer?.stripeCustomerId ?? null) &&
      (row.subscription_id === null) === (provider.stripeSubscriptionId === null) &&
      isSameState(row, toInvoiceState(clock, row, provider))
    );
  });
  return new Set(same.map(({ id }) => id));
}

/**
 * Our row of an open invoice whose payment was attempted and may have failed: a list does not tell, since
 * bank debits under way are attempted too.
 */
export async function needsLookup(
  { db }: Pick<SyncDeps, 'db'>,
  provider: ProviderInvoice,
): Promise<{ provider_as_of: Date | null } | undefined> {
  if (provider.status !== 'open' || !provider.attempted) return undefined;
  const [row] = await db
    .select({ provider_as_of: invoices.provider_as_of, payment_failed_at: invoices.payment_failed_at })
    .from(invoices)
    .where(eq(invoices.stripe_invoice_id, provider.id));
  return row?.payment_failed_at ? undefined : (row ?? { provider_as_of: null });
}

function mayHaveFailed(provider: ProviderInvoice, row: { payment_failed_at: Date | null }): boolean {
  return provider.status === 'open' && provider.attempted && row.payment_failed_at === null;
}
