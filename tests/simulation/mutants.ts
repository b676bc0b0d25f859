import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Totals } from './campaign';
import type { Failure } from './check-history';

interface Edit {
  file: string;
  /** Stands there exactly once. */
  find: string;
  replace: string;
}

interface Mutant {
  name: string;
  edits: Edit[];
}

export const MUTANTS: Mutant[] = [
  {
    name: 'no-guard',
    edits: [
      {
        file: 'lib/sync/order.ts',
        find: "if (source.asOf < heldAsOf) return 'stale';",
        replace: 'if (source.asOf < heldAsOf) return take(source.asOf);',
      },
    ],
  },
  {
    name: 'arrival-order-on-ties',
    edits: [
      {
        file: 'lib/sync/order.ts',
        find: "if (isSettled && question.isHeld(incoming)) return 'unchanged';",
        replace: 'return take(heldAsOf);',
      },
    ],
  },
  {
    name: 'no-lock',
    edits: [
      {
        file: 'db/database.ts',
        find: 'pg_advisory_xact_lock(hashtextextended(',
        replace: '(hashtextextended(',
      },
      {
        file: 'db/migrations/0011_lock_held_raises.sql',
        find: 'pg_advisory_xact_lock(hashtextextended(',
        replace: '(hashtextextended(',
      },
    ],
  },
  {
    name: 'no-tombstone',
    edits: [
      {
        file: 'lib/payments/record-stripe-payment.ts',
        find: "if (buried) return { outcome: 'none' };",
        replace: '',
      },
      {
        file: 'lib/sync/record-missing-payments.ts',
        find: 'and not exists (select from payment_tombstones t where t.reference = i.stripe_invoice_id)',
        replace: '',
      },
    ],
  },
  {
    name: 'one-shape-only',
    edits: [
      {
        file: 'lib/stripe/to-invoice.ts',
        find: 'asId(parent.subscription) ?? asId(payload.subscription)',
        replace: 'asId(parent.subscription)',
      },
    ],
  },
  {
    name: 'window-from-failed-run',
    edits: [
      {
        file: 'lib/sync/run.ts',
        find: '.where(eq(reconciliationRuns.lists_completed, true))',
        replace: '',
      },
    ],
  },
  {
    name: 'missing-payments-step-removed',
    edits: [
      {
        file: 'lib/sync/steps.ts',
        find: "{ name: 'missing payments', phase: 'payments', needs: 'database', page: recordMissingPayments },",
        replace: '',
      },
    ],
  },
  {
    name: 'items-never-removed',
    edits: [
      {
        file: 'lib/sync/apply-items.ts',
        find: 'const isRemoved = provider.itemsComplete && gone.length > 0;',
        replace: 'const isRemoved = gone.length > 1000;',
      },
    ],
  },
  {
    name: 'moved-item-taken-back',
    edits: [
      {
        file: 'lib/sync/apply-items.ts',
        find: 'if (elsewhere?.asOf && elsewhere.asOf > asOf) continue;',
        replace: '',
      },
    ],
  },
  {
    name: 'staff-not-heeded-of-items',
    edits: [
      {
        file: 'lib/sync/apply-items.ts',
        find: '!isSure || (row ?? elsewhere)?.linked_by_staff ||',
        replace: '!isSure ||',
      },
    ],
  },
  {
    name: 'own-number-not-asked-again',
    edits: [
      {
        file: 'lib/sync/link-customer.ts',
        find: 'isAnother && !isAnswered ? askStripe(ctx, told, numbers) : undefined',
        replace: 'isAnother && isAnswered ? askStripe(ctx, told, numbers) : undefined',
      },
    ],
  },
  {
    name: 'unknown-status-is-active',
    edits: [
      {
        file: 'lib/sync/to-subscription-state.ts',
        find: 'provider.status ?? row.status',
        replace: "provider.status ?? 'active'",
      },
    ],
  },
];

const RUNS = 1500;
const FOLDER = '.data/mutants';

/** Applies each mutation to a copy of the sources and lets the simulation find it. @returns whether it found all */
export async function runMutants(
  seed: number,
  server: string,
  print: (line: string) => void,
): Promise<boolean> {
  let found = 0;
  print(`${'mutant'.padEnd(32)}histories  what failed`);
  for (const mutant of MUTANTS) {
    const folder = copyWith(mutant);
    const { totals, failure } = await simulate(folder, seed, server);
    rmSync(folder, { recursive: true });
    if (failure) found += 1;
    const histories = String(totals.histories + (failure ? 1 : 0)).padEnd(11);
    print(`${mutant.name.padEnd(32)}${histories}${failure?.error ?? 'NOT FOUND'}`);
  }
  return found === MUTANTS.length;
}

function copyWith({ name, edits }: Mutant): string {
  const folder = resolve(FOLDER, name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, 'tests'), { recursive: true });
  for (const path of ['lib', 'db', 'tests/simulation', 'tests/support', 'package.json', 'tsconfig.json']) {
    cpSync(path, join(folder, path), { recursive: true });
  }
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  for (const { file, find, replace } of edits) {
    const text = readFileSync(file, 'utf8');
    if (text.split(find).length !== 2) throw new Error(`the mutant ${name} no longer fits ${file}`);
    writeFileSync(
      join(folder, file),
      text.replace(find, () => replace),
    );
  }
  return folder;
}

async function simulate(
  folder: string,
  seed: number,
  server: string,
): Promise<{ totals: Totals; failure: Failure | null }> {
  const args = ['--import', 'tsx', 'tests/simulation/run.ts', '--json', '--hurry'];
  args.push('--runs', String(RUNS), '--seed', String(seed), '--database', server);
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  for await (const chunk of child.stdout) output += chunk;
  return JSON.parse(output.trim().split('\n').at(-1) ?? '');
}
