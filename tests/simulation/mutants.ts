import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { runCampaign } from './campaign';

interface Edit {
  file: string;
  /** The text to replace. The file contains it exactly once, unless `everywhere` is set. */
  find: string;
  replace: string;
  everywhere?: boolean;
}

interface Mutant {
  name: string;
  /**
   * Whether only a run on PostgreSQL can reveal the mutant, because connections must race, or because the model
   * replaces the mutated code.
   */
  needsDatabase?: boolean;
  edits: Edit[];
}

/**
 * Each mutant has a name, a file, a text and its replacement. `PostgreSQL` marks a mutant that needs a PostgreSQL
 * server.
 */
const SINGLE_EDITS = `
failed-refund-not-taken-back lib/payments/money-back.ts
- return status === 'succeeded' ||
+ return status === 'succeeded' || status === 'failed' ||

dispute-and-refund-both-counted lib/payments/money-back.ts
- Math.min(sum, paid)
+ sum

recorded-refund-doubled lib/sync/decide/money-back.ts
- if (told) mergeRecorded(draft, payment, told);
+

refund-window-too-short lib/sync/reconcile/lists.ts
- windowFrom.getTime() - REVISED_DAYS * DAY_MS
+ windowFrom.getTime()

no-guard lib/sync/decide/order.ts
- if (source.asOf < storedAsOf) return 'stale';
+

arrival-order-on-ties lib/sync/decide/order.ts
- if (isSettled && isStored(incoming)) return 'unchanged';
+ return take(storedAsOf);

no-tombstone lib/sync/decide/payment.ts
- if (draft.isBuried(reference)) return;
+

one-shape-only lib/stripe/to-invoice.ts
- asId(parent.subscription) ?? asId(payload.subscription)
+ asId(parent.subscription)

lines-never-fetched-beyond-ten lib/stripe/to-invoice-lines.ts
- const isComplete = has_more !== true && !(Number(total_count) > data.length);
+ const isComplete = has_more !== null || total_count !== null;

tax-of-old-shape-lost lib/stripe/to-invoice-lines.ts
- (taxes.length > 0 ? taxes : asList(line.tax_amounts))
+ taxes

window-from-failed-run lib/sync/reconcile/run.ts PostgreSQL
- .where(and(eq(runs.lists_completed, true), lte(runs.started_at, now)))
+

missing-payments-step-removed lib/sync/reconcile/reconcile.ts
- { name: 'missing payments', phase: 'payments', needs: 'database', page: recordMissingPayments },
+

items-never-removed lib/sync/decide/subscription/items.ts
- if (provider.itemsComplete) removeGone(draft, stored, provider);
+

first-claim-by-arrival lib/sync/decide/customer.ts
- return at < otherAt || (at === otherAt && String(one.by) < String(other.by));
+ return false;

moves-not-settled lib/sync/decide/event.ts
- settleMoved(draft);
+

e-mail-is-sure lib/customers/sure-link.ts
- ['staff', 'number']
+ ['staff', 'number', 'email']

billed-elsewhere-ignored lib/sync/decide/subscription/service-dates.ts
- return [...own, ...elsewhere];
+ return elsewhere.length > 99 ? elsewhere : own;

own-end-cleared lib/sync/decide/subscription/service-dates.ts
- return own.stored === own.synced ?
+ return own.stored !== '' ?

what-ended-revives lib/sync/decide/subscription/subscription.ts
- if (decision === 'stale' || (hasEnded && revives)) {
+ if (decision === 'stale' || (hasEnded && revives && row.id < 0)) {

checkout-forgotten lib/sync/decide/subscription/subscription.ts
- row.checkout_completed_at >= asOf
+ row.checkout_completed_at >= new Date(8e15)

absence-not-compared lib/store/commit.ts
- ['40001', '40P01', '23505', '23503']
+ ['40001']

locks-in-any-order lib/store/commit.ts PostgreSQL
- all.flatMap(toLockKeys))].sort();
+ all.flatMap(toLockKeys))].sort(() => Math.random() - 0.5);

moved-item-taken-back lib/sync/decide/subscription/items.ts
- draft.itemsOf(other.id).length <= SHOWN) return true;
+ draft.itemsOf(other.id).length <= SHOWN) return false;

staff-not-heeded-of-items lib/sync/decide/subscription/items.ts
- !stored?.linked_by_staff
+ stored?.id !== 0

own-number-not-asked-again lib/sync/decide/customer.ts
- isAnother && !isAnswered ? askCustomer(draft, reported, noted) : undefined
+ isAnother && isAnswered ? askCustomer(draft, reported, noted) : undefined

deleted-payment-without-tombstone lib/payments/decide-payment.ts
- if (payment.source === 'stripe') draft.tombstones.push(payment.payment_reference);
+

deletion-not-settled lib/payments/decide-payment.ts
- draft.count(payment, -1);
+

counted-money-recorded-again lib/payments/decide-payment.ts
- refuseCounted(draft, wanted);
+

refund-here-not-recorded lib/payments/money-back.ts
- if (more > 0) recordRefund(
+ if (more > 1e9) recordRefund(

invoice-not-settled lib/payments/decide-payment.ts
- if (!invoice || invoice.stripe_invoice_id !== null) continue;
+ if (invoice) continue;

unknown-status-is-active lib/sync/decide/subscription/subscription.ts
- provider.status ?? row.status
+ provider.status ?? 'active'
`;

export const MUTANTS: Mutant[] = [
  ...SINGLE_EDITS.trim()
    .split('\n\n')
    .map((text) => {
      const [head = '', find = '', replace = ''] = text.split('\n');
      const [name = '', file = '', needed] = head.split(' ');
      const edit = { file, find: find.slice('- '.length), replace: replace.slice('+ '.length) };
      return { name, needsDatabase: needed !== undefined, edits: [edit] };
    }),
  {
    name: 'version-not-compared',
    needsDatabase: true,
    edits: ['plan', 'customers', 'subscriptions', 'money'].flatMap((part) =>
      [
        ['IF written <', 'IF NULL AND written <'],
        [' AND t.version = r.version', ''],
      ].map(([find = '', replace = '']) => ({
        file: `db/functions/commit_${part}.sql`,
        find,
        replace,
        everywhere: true,
      })),
    ),
  },
];

const RUNS = 3000;
const AT_ONCE = 2;
const FOLDER = '.data/mutants';

/**
 * Runs the simulation against each mutant in a copy of the sources, two mutants at a time.
 *
 * @param server a PostgreSQL server; if null, mutants that need one are skipped
 * @returns whether the simulation found every mutant that it ran against
 */
export async function runMutants(
  seed: number,
  server: string | null,
  print: (line: string) => void,
): Promise<boolean> {
  const left = server === null ? MUTANTS.filter(({ needsDatabase }) => needsDatabase) : [];
  const waiting = MUTANTS.filter((mutant) => !left.includes(mutant));
  let isFound = true;
  print(`${'mutant'.padEnd(32)}${'over'.padEnd(12)}histories  what failed`);
  const play = async () => {
    for (let mutant = waiting.shift(); mutant; mutant = waiting.shift()) {
      const { histories, error } = await playMutant(mutant, seed, server);
      isFound &&= error !== undefined;
      const where = mutant.needsDatabase ? 'PostgreSQL' : 'pure';
      const columns = `${mutant.name.padEnd(32)}${where.padEnd(12)}${String(histories).padEnd(11)}`;
      print(columns + (error === undefined ? 'NOT FOUND' : error.split('\n', 1)[0]));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, play));
  if (left.length > 0) {
    const names = left.map(({ name }) => name).join(', ');
    print(`Left out because they need PostgreSQL (--database URL): ${names}.`);
  }
  return isFound;
}

async function playMutant(mutant: Mutant, seed: number, server: string | null) {
  const root = copyWith(mutant);
  const isPure = !mutant.needsDatabase;
  const given = { server: isPure ? null : server, isPure, isCounted: false, shrinkFor: 0 };
  // Two mutants run concurrently on two cores, so each gets one worker. A race is possible even within one process.
  const options = { runs: RUNS, seed, ...given, root, workers: 1 };
  const { totals, failure } = await runCampaign(options, () => {});
  rmSync(root, { recursive: true });
  return { histories: totals.histories + Number(failure !== null), error: failure?.error };
}

function copyWith({ name, edits }: Mutant): string {
  const root = resolve(FOLDER, name);
  rmSync(root, { recursive: true, force: true });
  mkdirSync(join(root, 'tests'), { recursive: true });
  for (const path of ['lib', 'db', 'tests/simulation', 'tests/support', 'package.json', 'tsconfig.json']) {
    cpSync(path, join(root, path), { recursive: true });
  }
  symlinkSync(resolve('node_modules'), join(root, 'node_modules'));
  for (const { file, find, replace } of edits) {
    const path = join(root, file);
    const text = readFileSync(path, 'utf8');
    writeFileSync(
      path,
      text.replaceAll(find, () => replace),
    );
  }
  return root;
}
