import { DECIDED_DISPUTES } from '@/db/schema';
import { listProviderCreditNotes } from '@/lib/stripe/list';
import { attachPayment } from '@/lib/sync/decide/money-back/attach-payment';
import type { MoneyBackKind } from '@/lib/sync/decide/money-back/kinds';
import { refundsFrom } from '@/lib/sync/reconcile/steps/money-back-window';
import { inRun } from '@/lib/sync/reconcile/sync-object';
import { mergeKeys, noKeys } from '@/lib/sync/store/keys';
import type { Night } from './night';
import { pages, retrieve } from './night-lists';
import type { ModelRows } from './tables';

const DAY_MS = 86_400_000;
const FINAL: string[] = [...DECIDED_DISPUTES];

export async function listedRefunds(night: Night): Promise<void> {
  await pages(night, 'refund', { status: null, createdFrom: refundsFrom(night.work) });
}

export async function listedDisputes(night: Night): Promise<void> {
  const windowFrom = refundsFrom(night.work);
  const since = night.deps.now().getTime() - 120 * DAY_MS;
  const open = await night.process.stating(() =>
    [...night.model.tables.rows.disputes.values()]
      .filter((row) => !FINAL.includes(row.status) && row.provider_gone_at === null)
      .map((row) => row.issued_at.getTime())
      .filter((at) => at >= since),
  );
  const createdFrom = windowFrom && new Date(Math.min(windowFrom.getTime(), ...open));
  await pages(night, 'dispute', { status: null, createdFrom });
}

/** Invoices that were credited after what is stored of them. */
export async function creditNotes(night: Night): Promise<void> {
  const { deps, work, model } = night;
  if (!deps.stripe) return;
  let after: string | null = null;
  do {
    const page = await listProviderCreditNotes(deps.stripe, {
      status: null,
      createdFrom: work.windowFrom,
      after,
    });
    const { notes } = page;
    const behind = await night.process.stating(() =>
      notes.filter(({ invoice, changedAt }) => isBehind(model.tables.rows, invoice, changedAt)),
    );
    const ids = [...new Set(behind.map(({ invoice }) => invoice))].sort();
    for (const id of ids) await night.guarded('invoice', id, () => retrieve(night, 'invoice', id));
    after = page.next;
  } while (after !== null);
}

function isBehind({ invoices }: ModelRows, id: string, changedAt: Date): boolean {
  const row = [...invoices.values()].find(({ stripe_invoice_id }) => stripe_invoice_id === id);
  if (!row) return true;
  return row.provider_gone_at === null && (row.provider_as_of === null || row.provider_as_of <= changedAt);
}

export async function attachPayments(night: Night): Promise<void> {
  for (const kind of ['refund', 'dispute'] as const) {
    const ids = await night.process.stating(() => withPayment(night.model.tables.rows, kind));
    for (const id of ids) {
      await night.guarded(kind, id, async () => {
        await inRun(night.deps, night.work, {
          stripeCustomerId: null,
          keys: mergeKeys(noKeys(), { [`${kind}s`]: [id] }),
          decide: (draft) => attachPayment(draft, kind, id),
        });
      });
    }
  }
}

function withPayment({ refunds, disputes, payments }: ModelRows, kind: MoneyBackKind): string[] {
  const all =
    kind === 'refund'
      ? [...refunds.values()].map((row) => ({ ...row, stripeId: row.stripe_refund_id }))
      : [...disputes.values()].map((row) => ({ ...row, stripeId: row.stripe_dispute_id }));
  const known = [...payments.values()];
  return all
    .filter((row) => row.payment_id === null)
    .filter(({ stripe_payment_intent_id: intent, stripe_charge_id: charge, stripe_invoice_id: invoice }) =>
      known.some(
        (one) =>
          (intent !== null && one.stripe_payment_intent_id === intent) ||
          [intent, charge, invoice].includes(one.payment_reference),
      ),
    )
    .sort((a, b) => a.id - b.id)
    .flatMap(({ stripeId }) => stripeId ?? []);
}
