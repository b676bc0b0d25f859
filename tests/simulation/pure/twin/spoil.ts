import type { Commit } from '@/lib/sync/store/committed';
import { TABLE_NAMES } from '@/lib/sync/store/rows';
import type { ModelTables } from '../tables';

interface Past {
  past: Commit[];
  chance: { draw(): number };
  tables: ModelTables;
}

/** A commit of before, late or wrong in some way: it is to be refused, or to be applied, alike. */
export function spoil({ past, chance, tables }: Past): Commit {
  const at = Math.floor(chance.draw() * past.length);
  const commit = structuredClone(past[at] as Commit);
  const way = WAYS[Math.floor(chance.draw() * WAYS.length)];
  way?.(commit, tables);
  return commit;
}

type Way = (commit: Commit, tables: ModelTables) => void;

/** As if it had just been decided: rows have the versions that they have now. */
const renewed: Way = ({ plan, events }, { rows }) => {
  for (const name of TABLE_NAMES) {
    for (const row of plan[name].updated as { id?: number; stripe_customer_id?: string; version: number }[]) {
      const key = name === 'links' ? row.stripe_customer_id : row.id;
      row.version = (rows[name] as Map<unknown, { version: number }>).get(key)?.version ?? row.version;
    }
  }
  for (const row of plan.touched)
    row.version = rows.links.get(row.stripe_customer_id)?.version ?? row.version;
  for (const event of events) {
    const stored = rows.events.get(event.id);
    if (stored) event.before = `${stored.outcome} ${stored.attempts}`;
  }
};

const WAYS: Way[] = [
  () => {}, // as it was, and too late
  renewed,
  (commit, tables) => {
    renewed(commit, tables);
    for (const name of TABLE_NAMES) commit.plan[name].inserted = [];
    commit.plan.changes = [];
  },
  (commit, tables) => {
    renewed(commit, tables);
    for (const row of commit.plan.subscriptions.updated) row.customer_id = 999_999;
  },
  (commit, tables) => {
    renewed(commit, tables);
    for (const row of commit.plan.items.updated) row.customer_service_id = 999_999;
    for (const row of commit.plan.invoices.updated) row.subscription_id = 999_999;
  },
  (commit, tables) => {
    renewed(commit, tables);
    commit.plan.subscriptions.deleted.push(...tables.rows.subscriptions.values());
  },
  (commit, tables) => {
    renewed(commit, tables);
    commit.plan.abandoned.push(...tables.rows.customers.keys());
  },
  ({ plan }, tables) => {
    const [first] = tables.rows.customers.values();
    plan.absentNumbers.push(first?.customer_number.toLowerCase() ?? 'k1');
  },
  ({ plan }, tables) => {
    const [first] = tables.rows.customers.values();
    plan.emails.push({
      email: first?.email?.toLowerCase() ?? 'nobody@example.com',
      ids: [first?.id ?? 1, 999_999],
    });
  },
  (commit, tables) => {
    renewed(commit, tables);
    const [link] = tables.rows.links.values();
    const [customer] = [...tables.rows.customers.keys()].slice(-1);
    if (link && customer !== undefined) {
      commit.plan.moves.push({ stripe_customer_id: link.stripe_customer_id, customer_id: customer });
    }
  },
];
