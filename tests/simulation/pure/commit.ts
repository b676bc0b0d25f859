import { isDeepStrictEqual } from 'node:util';
import { type Commit, idInText, type Written } from '@/lib/store/commit';
import type { Plan, TablePlan } from '@/lib/store/snapshot';
import {
  type TableName as Planned,
  type StoredLink,
  type StoredPayment,
  TABLE_NAMES,
} from '@/lib/store/snapshot';
import { bookModel } from './book';
import { storeEvent } from './inbox';
import { closeSettledTasks } from './settled-tasks';
import {
  checkReferences,
  checkRow,
  checkUnique,
  lineKey,
  type ModelRows,
  type ModelTables,
  REFERENCES,
  type RowOf,
  StateError,
  type TableName,
} from './tables';

/**
 * Writes a plan as the SQL function `commit_plan` does.
 *
 * @throws StateError if a write is refused; all writes are then rolled back
 */
export function commitModel(tables: ModelTables, commit: Commit, now: Date): Written {
  const made = makeIds(tables, commit.plan);
  tables.atOnce(() => write(new Writer(tables, made, now), commit));
  return { at: now, ids: made };
}

/** Reserves ids for new rows. As with a database sequence, the ids stay used if the commit fails. */
function makeIds(tables: ModelTables, plan: Plan): Made {
  const made: Made = new Map();
  for (const table of TABLE_NAMES) {
    for (const row of plan[table].inserted) if ('id' in row) made.set(row.id, tables.nextId(table));
  }
  return made;
}

function write(writer: Writer, { plan, events, runId, bookedOn }: Commit): void {
  const { tables, made, now } = writer;
  compareAbsent(tables, plan);
  for (const { stripe_customer_id, version } of plan.touched) {
    const link = tables.rows.links.get(stripe_customer_id);
    if (link?.version !== version) throw conflict('links');
    tables.put('links', stripe_customer_id, { ...link, version: version + 1 });
  }
  for (const { id, version } of plan.invoicesSeen) {
    if (tables.rows.invoices.get(id)?.version !== version) throw conflict('invoices');
  }
  for (const row of plan.customers.inserted)
    insertCreated(
      tables,
      toStored('customers', row, undefined, made, { now, version: 0 }),
      plan.absentNumbers,
    );
  writer.insert('links', plan.links);
  writer.update('links', plan.links);
  writer.update('customers', plan.customers);
  writer.update('services', plan.services);
  writer.insert('subscriptions', plan.subscriptions);
  writer.delete('items', plan.items);
  writer.update('items', plan.items);
  writer.insert('items', plan.items);
  for (const { from, to } of plan.handedOver) handOver(tables, from, Number(toId(to, made)));
  deleteSubscriptions(writer, plan.subscriptions);
  writer.update('subscriptions', plan.subscriptions);
  writer.insert('invoices', plan.invoices);
  writer.update('invoices', plan.invoices);
  replaceLines(tables, plan.lines, made);
  for (const settled of plan.invoicesSettled) {
    const before = tables.rows.invoices.get(settled.id);
    if (before?.version !== settled.version) throw conflict('invoices');
    const version = before.version + 1;
    tables.put('invoices', settled.id, { ...before, ...settled, version, updated_at: now });
  }
  for (const { stripe_customer_id: id, customer_id } of plan.moves) {
    moveStripeCustomer(tables, id, Number(toId(customer_id, made)), now);
  }
  writer.insert('payments', plan.payments);
  writer.update('payments', plan.payments);
  for (const { payment_reference, source } of plan.payments.inserted) {
    if (source === 'stripe' && tables.rows.tombstones.has(payment_reference)) throw conflict('tombstones');
  }
  for (const name of plan.reportedMoney) {
    if ([...tables.rows.payments.values()].some((row) => row.payment_reference === name))
      throw conflict('money');
  }
  for (const name of plan.money) {
    const isIts = (row: StoredPayment) =>
      row.source === 'stripe' && (row.stripe_payment_intent_id === name || row.stripe_charge_id === name);
    if ([...tables.rows.payments.values()].some(isIts)) throw conflict('money');
  }
  writer.delete('refunds', plan.refunds);
  writer.update('refunds', plan.refunds);
  writer.insert('refunds', plan.refunds);
  writer.update('disputes', plan.disputes);
  writer.insert('disputes', plan.disputes);
  deletePayments(writer, plan.payments);
  for (const reference of plan.tombstones) tables.put('tombstones', reference, { reference });
  closeSettledTasks(
    tables,
    [...plan.invoices.updated, ...plan.invoicesSeen].map(({ id }) => id),
    [...plan.payments.updated, ...plan.payments.deleted].map(({ id }) => id),
  );
  for (const task of plan.tasks) {
    const named = (text: string) =>
      [...made].reduce((so_far, [id, real]) => so_far.replaceAll(idInText(id), String(real)), text);
    const entity_id = toId(task.entity_id, made) as number | null;
    tables.addTask({ ...task, subject: named(task.subject), message: named(task.message), entity_id });
  }
  for (const { kind, subject } of plan.tasksOver) {
    for (const task of tables.rows.tasks.values()) {
      const isIt = task.kind === kind && task.subject === subject && task.done_by === null;
      if (isIt) tables.put('tasks', task.id, { ...task, done_by: 'Stripe' });
    }
  }
  const written = ({ inserted, updated, deleted }: TablePlan<{ id: number }>) =>
    [...inserted, ...updated, ...deleted].map(({ id }) => Number(toId(id, made)));
  bookModel(tables, {
    invoices: written(plan.invoices),
    payments: written(plan.payments),
    ...bookedOn(),
  });
  for (const id of plan.abandoned) removeIfEmpty(tables, Number(toId(id, made)));
  const stored = (changes: Plan['changes']) =>
    changes.map((one) => ({ ...one, entity_id: toId(one.entity_id, made) }));
  for (const event of events) storeEvent(tables, { ...event, changes: stored(event.changes) });
  tables.audits += plan.audits.length;
  if (runId !== null)
    tables.runChanges.push(...stored(plan.changes).map((change) => ({ run: runId, change })));
}

/** Checks the links of a plan. @throws Error if a link is written without a change */
export function checkNews({ rows }: ModelTables, { links }: Plan): void {
  const isNews = (link: StoredLink) =>
    !isDeepStrictEqual(
      { ...rows.links.get(link.stripe_customer_id), updated_at: 0 },
      { ...link, updated_at: 0 },
    );
  const known = links.updated.find((link) => !isNews(link));
  if (known) throw new Error(`a link is written without a change: ${known.stripe_customer_id}`);
}

function compareAbsent({ rows }: ModelTables, plan: Plan): void {
  const all = [...rows.customers.values()];
  const isTaken = (number: string) =>
    [...all, ...rows.merged.values()].some((row) => row.customer_number.toLowerCase() === number);
  if (plan.absentNumbers.some(isTaken)) throw conflict('numbers');
  for (const { email, ids } of plan.emails) {
    const now = all.filter((row) => row.email?.toLowerCase() === email).map(({ id }) => id);
    if (now.sort((a, b) => a - b).join() !== ids.join()) throw conflict('emails');
  }
}

function deleteSubscriptions(writer: Writer, plan: Plan['subscriptions']): void {
  const { tables } = writer;
  writer.delete('subscriptions', plan);
  for (const { id } of plan.deleted) {
    for (const item of tables.rows.items.values())
      if (item.subscription_id === id) tables.delete('items', item.id);
    for (const invoice of tables.rows.invoices.values()) {
      if (invoice.subscription_id === id) throw new StateError('23503', `subscription ${id} has invoices`);
    }
  }
}

function deletePayments(writer: Writer, plan: Plan['payments']): void {
  const { tables } = writer;
  writer.delete('payments', plan);
  for (const { id } of plan.deleted) {
    for (const row of tables.rows.disputes.values()) {
      if (row.payment_id !== id) continue;
      tables.put('disputes', row.id, { ...row, payment_id: null, version: row.version + 1 });
    }
  }
}

const conflict = (what: string) => new StateError('40001', what);

type AnyRow = { id?: number; stripe_customer_id?: string | null; version: number };
type AnyPlan = TablePlan<AnyRow>;

class Writer {
  constructor(
    readonly tables: ModelTables,
    readonly made: Made,
    readonly now: Date,
  ) {}

  insert(name: Planned, { inserted }: AnyPlan): void {
    const rows = inserted.map((row) => this.toStored(name, row, undefined));
    for (const row of rows) {
      if (this.stored(name, row)) throw new StateError('23505', name);
      this.put(name, row);
    }
    for (const row of rows) checkReferences(this.tables, name, row);
  }

  update(name: Planned, { updated }: AnyPlan): void {
    for (const planned of updated) {
      const before = this.stored(name, planned);
      if (before?.version !== planned.version) throw conflict(name);
      const row = this.toStored(name, planned, before);
      this.put(name, row);
      checkReferences(this.tables, name, row);
    }
  }

  delete(name: 'items' | 'subscriptions' | 'refunds' | 'payments', { deleted }: AnyPlan): void {
    for (const row of deleted) {
      if (this.stored(name, row)?.version !== row.version) throw conflict(name);
      this.tables.delete(name, Number(row.id));
    }
  }

  private stored(name: Planned, row: AnyRow): AnyRow | undefined {
    return (this.tables.rows[name] as Map<unknown, AnyRow>).get(keyOf(name, row));
  }

  private toStored(name: Planned, row: AnyRow, before: AnyRow | undefined): AnyRow {
    const version = before ? before.version + 1 : 0;
    return toStored(name, row as RowOf<Planned>, before as RowOf<Planned> | undefined, this.made, {
      now: this.now,
      version,
    });
  }

  private put(name: Planned, row: AnyRow): void {
    checkRow(name, row as RowOf<Planned>);
    checkUnique(this.tables, name, row as RowOf<Planned> & AnyRow);
    this.tables.put(name, keyOf(name, row) as never, row as never);
  }
}

const keyOf = (name: Planned, row: AnyRow) => (name === 'links' ? row.stripe_customer_id : row.id);

/** Columns that sync may change in an existing row. Tables without an entry allow all columns. */
const UPDATED: Partial<{ [Name in TableName]: (keyof RowOf<Name>)[] }> = {
  customers: ['last_name', 'email', 'phone', 'street', 'postal_code', 'city', 'country'],
  services: ['next_billing_date', 'synced_billing_date', 'ends_on', 'synced_ends_on'],
};

const AMOUNTS: Partial<Record<TableName, string[]>> = {
  items: ['amount'],
  invoices: [
    'subtotal',
    'tax',
    'total',
    'amount_paid',
    'amount_due',
    'amount_off_stripe',
    'amount_credited',
    'balance_applied',
  ],
  payments: ['amount', 'provider_amount', 'refunded_amount'],
  refunds: ['amount'],
  disputes: ['amount'],
};

/** The new ids by their negative placeholder ids in the plan. */
type Made = Map<number, number>;

/** Returns a row as its table stores it, with real ids, amounts with three decimals, and this version. */
function toStored<Name extends keyof ModelRows>(
  name: Name,
  planned: RowOf<Name>,
  before: RowOf<Name> | undefined,
  made: Made,
  at: { now: Date; version: number },
): RowOf<Name> {
  const columns = before && UPDATED[name];
  const row: Record<string, unknown> = { ...((columns ? before : planned) as object) };
  for (const column of columns ?? []) row[column as string] = planned[column];
  for (const column of ['id', 'checkout_reference', ...Object.keys(REFERENCES[name] ?? {})]) {
    if (column in row) row[column] = toId(row[column], made);
  }
  for (const column of AMOUNTS[name] ?? []) {
    if (row[column] !== null) row[column] = Number(row[column]).toFixed(3);
  }
  if ('numbers' in row) row.numbers = asJsonb(row.numbers);
  if ('details' in row) row.details = asJsonb(row.details);
  if ('is_stub' in row) row.is_stub = row.provider_as_of === null && row.stripe_subscription_id !== null;
  if ('created_at' in row) {
    row.created_at = (before as { created_at: Date } | undefined)?.created_at ?? at.now;
    row.updated_at = at.now;
  }
  row.version = at.version;
  return row as RowOf<Name>;
}

function toId(id: unknown, made: Made): unknown {
  return typeof id === 'number' && id < 0 ? (made.get(id) ?? id) : id;
}

/** Returns a value as jsonb returns it. Keys are sorted by length, and keys of equal length alphabetically. */
export function asJsonb(value: unknown): unknown {
  if (Array.isArray(value)) return Object.freeze(value.map(asJsonb));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => a.length - b.length || (a < b ? -1 : 1));
  return Object.freeze(Object.fromEntries(entries.map(([key, one]) => [key, asJsonb(one)])));
}

const SERIAL = /^[Kk](\d{1,15})$/;

/** Inserts a customer like `insert_created_customer`, with a free number that no Stripe object contains. */
function insertCreated(tables: ModelTables, row: RowOf<'customers'>, absent: string[]): void {
  const { customers, merged, links } = tables.rows;
  const noted = [...links.values()].flatMap(({ numbers }) => numbers.map((one) => one.number.toLowerCase()));
  const named = new Set([...absent, ...noted]);
  const serials = [...customers.values(), ...merged.values()].flatMap(({ customer_number }) => {
    const [, serial] = SERIAL.exec(customer_number) ?? [];
    return serial === undefined ? [] : [Number(serial)];
  });
  let serial = (serials.length > 0 ? Math.max(...serials) : 10_000) + 1;
  while (named.has(`k${serial}`)) serial += 1;
  const made = { ...row, customer_number: `K${serial}` };
  checkUnique(tables, 'customers', made);
  tables.put('customers', made.id, made);
}

/** Moves a Stripe customer's subscriptions, invoices and payments, like `move_stripe_customer`. */
function moveStripeCustomer(tables: ModelTables, moved: string, customer_id: number, now: Date): void {
  const { rows } = tables;
  const change = { customer_id, updated_at: now };
  const isMoved = (row: { stripe_customer_id: string | null; customer_id: number }) =>
    row.stripe_customer_id === moved && row.customer_id !== customer_id;
  for (const row of [...rows.subscriptions.values()].filter(isMoved))
    tables.put('subscriptions', row.id, { ...row, ...change, version: row.version + 1 });
  for (const row of [...rows.invoices.values()].filter(isMoved))
    tables.put('invoices', row.id, { ...row, ...change, version: row.version + 1 });
  for (const row of [...rows.payments.values()]) {
    const invoice = rows.invoices.get(row.invoice_id);
    if (invoice?.stripe_customer_id !== moved || row.customer_id === customer_id) continue;
    tables.put('payments', row.id, { ...row, ...change, version: row.version + 1 });
  }
}

/** Moves the invoices of one subscription to another. */
function handOver(tables: ModelTables, from: number, subscription_id: number): void {
  for (const row of [...tables.rows.invoices.values()]) {
    if (row.subscription_id !== from) continue;
    tables.put('invoices', row.id, { ...row, subscription_id, version: row.version + 1 });
  }
}

/** Replaces all lines of each invoice for which the plan has lines. */
function replaceLines(tables: ModelTables, planned: Plan['lines'], made: Made): void {
  for (const { invoice_id: planned_id, lines } of planned) {
    const invoice_id = Number(toId(planned_id, made));
    for (const [key, row] of tables.rows.lines)
      if (row.invoice_id === invoice_id) tables.delete('lines', key);
    for (const [i, line] of lines.entries()) {
      const [amount, discount] = [Number(line.amount).toFixed(3), Number(line.discount).toFixed(3)];
      const row = { ...line, invoice_id, position: i + 1, amount, discount };
      tables.put('lines', lineKey(row), row);
    }
  }
}

/**
 * Like `remove_if_empty`, changes links by e-mail to `created`, and removes a customer that has no records and that
 * staff did not change.
 */
function removeIfEmpty(tables: ModelTables, id: number): void {
  for (const [key, link] of tables.rows.links) {
    if (link.customer_id !== id || link.linked_by !== 'email') continue;
    tables.put('links', key, { ...link, linked_by: 'created', version: link.version + 1 });
  }
  const { services, invoices, subscriptions, payments, links, merged } = tables.rows;
  const owned = [services, invoices, subscriptions, payments, links, merged];
  const isOwner = owned.some((table) =>
    [...(table as Map<unknown, { customer_id: number }>).values()].some((row) => row.customer_id === id),
  );
  if (!isOwner && !tables.edited.has(id)) tables.delete('customers', id);
}
