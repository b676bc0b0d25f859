import { sql } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { rows } from '@/db/database';
import { auditLog, customerNotes, customers, disputes, invoices, payments, transfers } from '@/db/schema';
import { commandActor } from '@/lib/audit/audit-log';
import { seededChance } from '@/lib/chance';
import { checkCounts, recountLists } from '@/lib/counted-list/check-counts';
import { addDays } from '@/lib/dates';
import { getCompany } from '@/lib/documents/company';
import {
  DEFAULTS,
  getReminderSettings,
  saveReminderSettings,
  toRules,
  toTyped,
  writeReminder,
} from '@/lib/documents/reminder-letter';
import { overdueFilters } from '@/lib/invoices/overdue-worklist';
import { type Receivable, receivableList } from '@/lib/invoices/receivables';
import {
  countReminders,
  dueLevel,
  findLastReminder,
  listDueInvoices,
  noteReminder,
  reminderList,
  undoReminder,
} from '@/lib/invoices/reminders';
import { AGE_GROUPS, AGE_RANGES, ageGroupOf, ageGroupSql, presentAge, rangeOfAge } from '@/lib/overdue';
import { onPostgres, useDatabase } from '../support/database';
import {
  createCustomer,
  createInvoice,
  createPayment,
  createStripeInvoice,
  createTransfer,
} from '../support/factories';

const base = useDatabase();
const drawn = seededChance(48);
const chance = (below: number) => Math.floor(drawn.draw() * below);
const oneOf = <Value>(values: readonly Value[]) => values[chance(values.length)] as Value;
/** Today's date in UTC. The database computes the stored rows for this day. */
const TODAY = new Date().toISOString().slice(0, 10);

/** The columns of the sums of the age groups, in the order of `AGE_GROUPS`. */
const COLUMNS = ['not_due', 'days_1_30', 'days_31_60', 'days_61_90', 'over_90_days'] as const;

/** Reads all pages of the list, and checks that each page leads back to the one before. */
async function readAll(given: object = {}, today = TODAY, size = 4) {
  const list = receivableList(today);
  const filters = list.schema.parse(given);
  const found: Receivable[] = [];
  let earlier: Receivable[] = [];
  for (let after: string | null | undefined; after !== null; ) {
    const page = await list.page(base.db, filters, { after }, size);
    if (page.previous) {
      const back = await list.page(base.db, filters, { before: page.previous }, size);
      expect(back.data).toEqual(earlier);
    }
    earlier = page.data;
    found.push(...page.data);
    after = page.next;
  }
  const { count } = await list.page(base.db, filters, {}, size);
  expect(count).toBe(found.length);
  return found;
}

/** Computes the list from all rows, without the stored receivables. */
async function expectedRows(today = TODAY): Promise<Record<string, unknown>[]> {
  const owed = await base.db.select().from(invoices);
  const paid = await base.db.select().from(payments);
  const sent = await base.db.select().from(transfers);
  const notes = await base.db.select().from(customerNotes);
  const byKey = new Map<string, (typeof owed)[number][]>();
  for (const one of owed) {
    if (one.status !== 'sent' && one.status !== 'overdue') continue;
    const key = `${one.customer_id} ${one.currency}`;
    byKey.set(key, [...(byKey.get(key) ?? []), one]);
  }
  return [...byKey].map(([key, its]) => {
    const [id = 0, currency = ''] = [Number(key.split(' ')[0]), key.split(' ')[1]];
    const dueOf = (one: (typeof its)[number]) => one.due_date ?? one.invoice_date;
    const sumOf = (some: typeof its) =>
      Math.round(some.reduce((sum, one) => sum + Number(one.amount_due) * 1000, 0)) / 1000;
    const days = (one: (typeof its)[number]) => (Date.parse(today) - Date.parse(dueOf(one))) / 86_400_000;
    const dates = [
      ...paid
        .filter((one) => one.customer_id === id && one.status === 'completed')
        .map((one) => one.payment_date),
      ...sent.filter((one) => one.customer_id === id).map((one) => one.payment_date),
    ];
    const credits = sent.filter((one) => one.customer_id === id && one.currency === currency);
    const reminded = its.filter((one) => one.reminded_on.length > 0);
    const noted = notes.filter((one) => one.customer_id === id).map((one) => one.created_at.getTime());
    return {
      id,
      currency,
      open_amount: sumOf(its),
      credit: credits.reduce((sum, { credit }) => sum + Number(credit), 0),
      invoice_count: its.length,
      oldest_due: its.map(dueOf).sort()[0],
      ...Object.fromEntries(
        AGE_GROUPS.map((age, i) => [COLUMNS[i], sumOf(its.filter((one) => ageGroupOf(days(one)) === age))]),
      ),
      last_payment: dates.sort().at(-1) ?? null,
      last_note: noted.length > 0 ? Math.max(...noted) : null,
      last_reminder:
        reminded
          .map((one) => one.reminded_on.at(-1))
          .sort()
          .at(-1) ?? null,
      reminder_level: reminded.length > 0 ? Math.max(...reminded.map((one) => one.reminded_on.length)) : null,
    };
  });
}

const comparable = ({ customer: _, last_note, ...row }: Receivable) => ({
  ...row,
  last_note: last_note?.getTime() ?? null,
});
const byKey = (a: { id?: unknown; currency?: unknown }, b: typeof a) =>
  Number(a.id) - Number(b.id) || String(a.currency).localeCompare(String(b.currency));

async function expectRight(given: object = {}, today = TODAY) {
  const found = (await readAll(given, today)).map(comparable);
  expect(found.toSorted(byKey)).toEqual((await expectedRows(today)).sort(byKey));
}

describe('the list of receivables', () => {
  const ids = { customers: [] as number[] };

  async function change(): Promise<void> {
    const customer_id = oneOf(ids.customers);
    const due_date = oneOf([
      null,
      ...[-40, -1, 0, 1, 29, 30, 31, 60, 61, 90, 91, 400].map((d) => addDays(TODAY, -d)),
    ]);
    const [some] = await rows<{ id: number }>(
      base.db,
      sql`select id from invoices order by random() limit 1`,
    );
    const status = oneOf(['sent', 'overdue', 'paid', 'cancelled'] as const);
    const kind = chance(8);
    if (kind < 3 || !some) {
      await createInvoice(base.db, {
        ...{ customer_id, due_date, status, currency: oneOf(['eur', 'eur', 'usd']) },
        amount_due: String(1 + chance(100) / 4),
      });
    } else if (kind === 3) {
      await base.db.execute(
        sql`update invoices set status = ${status}::invoice_status, due_date = ${due_date}::date,
          amount_due = amount_due + 1, reminded_on = reminded_on || ${addDays(TODAY, -chance(9))}::date, customer_id = ${customer_id}::int where id = ${some.id}::int`,
      );
    } else if (kind === 4) {
      await createPayment(base.db, {
        ...{ customer_id, invoice_id: some.id, status: oneOf(['completed', 'failed']) },
        payment_date: addDays(TODAY, -chance(50)),
      });
    } else if (kind === 5) {
      await createTransfer(base.db, {
        customer_id,
        amount: '9',
        credit: String(chance(9)),
        payment_date: TODAY,
      });
    } else if (kind === 6) {
      await base.db
        .insert(customerNotes)
        .values({ customer_id, text: 'Will pay', actor_type: 'staff', actor_id: 'ada', actor_name: 'Ada' });
    } else {
      await base.db.execute(sql`delete from payments where id = (select min(id) from payments)`);
    }
  }

  beforeAll(async () => {
    for (let i = 0; i < 9; i += 1) ids.customers.push((await createCustomer(base.db)).id);
  });

  test('the list of receivables is correct whether or not a change has been applied to its stored rows', async () => {
    for (let i = 0; i < 60; i += 1) {
      await change();
      if (chance(5) === 0) await base.db.execute(sql`select fold_receivables(${chance(3)}::int)`);
      if (i % 4 === 0) await expectRight();
    }
    await base.db.execute(sql`select fold_receivables(1000)`);
    expect(await base.db.$count(sql`receivable_changes`)).toBe(0);
    await expectRight();
    expect(await checkCounts(base.db)).toEqual([]);
  });

  test('the receivables by age are correct for days before and after the day of the stored rows', async () => {
    for (const days of [-100, -31, -1, 1, 2, 30, 31, 59, 200]) await expectRight({}, addDays(TODAY, days));
  });

  const orders = receivableList(TODAY).schema.shape.sort.unwrap().options;
  test.each(orders)('the list of receivables is sorted by %s across its pages', async (sort) => {
    await createInvoice(base.db, { customer_id: oneOf(ids.customers), status: 'sent', amount_due: '0.01' });
    const found = await readAll({ sort });
    const name = sort.replace(/^-/, '');
    const place = AGE_GROUPS.indexOf(name as (typeof AGE_GROUPS)[number]);
    const column = {
      open: 'open_amount',
      invoices: 'invoice_count',
      due: 'oldest_due',
      payment: 'last_payment',
      note: 'last_note',
    }[name];
    const numberOf = (row: Receivable) =>
      Number(toNumber(row[(COLUMNS[place] ?? column) as keyof Receivable]));
    const values = found.map(numberOf);
    const isDown = sort.startsWith('-');
    expect(values).toEqual(values.toSorted((a, b) => (isDown ? b - a : a - b)));
    expect(found.map(comparable).toSorted(byKey)).toEqual((await expectedRows()).sort(byKey));
  });

  test('the list of receivables can be filtered by customer and currency', async () => {
    const all = await expectedRows();
    const usd = await readAll({ currency: 'USD' });
    expect(usd.map(({ id }) => id).sort()).toEqual(
      all
        .filter((one) => one.currency === 'usd')
        .map(({ id }) => id)
        .sort(),
    );
    const [first] = usd;
    const own = await readAll({ customer: first?.customer.customer_number });
    expect(own.length).toBe(all.filter(({ id }) => id === first?.id).length);
  });

  test('the CSV file of receivables has one line per customer and currency, in the order of the list', async () => {
    const list = receivableList(TODAY);
    const lines: string[] = [];
    for await (const piece of list.csv(base.db, list.schema.parse({}))) lines.push(piece);
    const numbers = (await readAll()).map(
      ({ customer, currency }) => `"${customer.customer_number}","${currency}"`,
    );
    const text = lines.join('').trim().split(/\r?\n/).slice(1);
    expect(text.length).toBe(numbers.length);
    for (const [i, line] of text.entries()) expect(line).toContain(String(numbers[i]?.split(',')[0]));
  });

  test('a wrong stored row of receivables is found by the check and corrected by a recount', async () => {
    await base.db.execute(sql`select rebuild_receivables()`);
    await base.db.execute(sql`update receivables set open_amount = open_amount + 3
      where (customer_id, currency) = (select customer_id, currency from receivables limit 1)`);
    const seen = new Set<string>();
    // A check starts at a random customer and may miss the wrong row, so repeat it.
    for (let i = 0; i < 60; i += 1) for (const name of await checkCounts(base.db)) seen.add(name);
    expect([...seen]).toEqual(['receivables']);
    const wrong = [];
    for await (const { list, wrong: found } of recountLists(base.db))
      if (list === 'receivables') wrong.push(...found);
    expect(wrong.map(({ excess }) => excess)).toEqual([3]);
    await expectRight();
  });

  test('the list of receivables is correct after concurrent writes for the same customers', async () => {
    const writes = onPostgres() ? 400 : 40;
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        for (let i = 0; i < writes / 8; i += 1) {
          await change();
          if (chance(4) === 0) await base.db.execute(sql`select fold_receivables(5)`);
        }
      }),
    );
    await expectRight();
    expect(await checkCounts(base.db)).toEqual([]);
  });

  test('a customer without open invoices is missing from the list of receivables', async () => {
    await base.db.update(invoices).set({ status: 'paid', amount_due: '0' });
    expect(await readAll()).toEqual([]);
    await base.db.execute(sql`select fold_receivables(5)`);
    expect(await base.db.$count(sql`receivables`)).toBe(0);
    expect(await base.db.$count(customers)).toBeGreaterThan(0);
  });
});

function toNumber(value: unknown): number {
  if (value === null) return Number.NEGATIVE_INFINITY;
  if (value instanceof Date) return value.getTime();
  return typeof value === 'string' ? Date.parse(value) : Number(value);
}

const AGEING_DAY = '2026-11-29';
const EXAMPLES = [
  [-400, 'not-due'],
  [-1, 'not-due'],
  [0, 'not-due'],
  [1, '1-30'],
  [30, '1-30'],
  [31, '31-60'],
  [60, '31-60'],
  [61, '61-90'],
  [90, '61-90'],
  [91, 'over-90'],
  [4000, 'over-90'],
] as const;

describe('the age of an unpaid invoice', () => {
  test.each(EXAMPLES)('an invoice %d days after its due date is in the age group %s', (days, group) => {
    expect(ageGroupOf(days)).toBe(group);
  });

  test('SQL and TypeScript put an invoice of any age into the same age group', async () => {
    const days = Array.from({ length: 200 }, (_, i) => i - 50);
    const found = await rows<{ days: number; age: string }>(
      base.db,
      sql`select days, ${ageGroupSql(sql`(${AGEING_DAY}::date - days)`, AGEING_DAY)} as age
        from unnest(${`{${days}}`}::int[]) as days order by days`,
    );
    expect(found).toEqual(days.map((one) => ({ days: one, age: ageGroupOf(one) })));
  });

  test.each(AGE_RANGES)('the age filter %s covers exactly the days of its age groups', (age) => {
    const [from, to] = rangeOfAge(age);
    const within = (days: number) => (from === null || days >= from) && (to === null || days <= to);
    for (const [days, group] of EXAMPLES) {
      const first = Number(/\d+/.exec(age)?.[0] ?? Number.NaN);
      const isIts = AGE_GROUPS.some((one) => one === age) ? group === age : days > first;
      expect([days, within(days)]).toEqual([days, isIts]);
    }
  });

  test.each([
    ['1-14', '1-30'],
    ['15-30', '1-30'],
    ['31-60', '31-60'],
    ['over-60', 'over-60'],
    ['over-30', 'over-30'],
    ['not-due', 'not-due'],
  ])('an old link with the age %s filters by the age %s', (old, present) => {
    expect(presentAge(old)).toBe(present);
    expect(overdueFilters.parse({ age: old }).age).toBe(present);
  });

  test('an unknown age in a filter is refused with the list of valid ages', () => {
    expect(() => overdueFilters.parse({ age: '1-99' })).toThrow(/must be one of not-due, 1-30/);
  });
});

const RULES = { days: [7, 21, 35], pause: 10 };
/** Days since the due date and since each earlier reminder, and the level that is due. */
const REMINDERS: [overdue: number, reminded: number[], level: number | null][] = [
  [-3, [], null],
  [0, [], null],
  [6, [], null],
  [7, [], 1],
  [400, [], 1],
  [20, [13], null],
  [21, [13], 2],
  [21, [10], 2],
  [21, [9], null],
  [100, [0], null],
  [34, [30, 12], null],
  [35, [30, 12], 3],
  [35, [30, 9], null],
  [400, [300, 200, 100], null],
];

describe('the reminder that is due', () => {
  const daysAgo = (days: number) => addDays(AGEING_DAY, -days);
  const toInvoice = ([overdue, reminded]: (typeof REMINDERS)[number]) => ({
    due: daysAgo(overdue),
    reminded_on: reminded.map(daysAgo),
  });

  test.each(REMINDERS)(
    'an invoice %d days overdue with reminders %j days ago is due for the reminder level %s',
    (...one) => {
      expect(dueLevel(toInvoice(one), RULES, AGEING_DAY)).toBe(one[2]);
    },
  );

  test('a reminder level without days is never due, and neither are the later levels', () => {
    const rules = { days: [7, null, null], pause: 10 };
    expect(dueLevel(toInvoice([400, [], null]), rules, AGEING_DAY)).toBe(1);
    expect(dueLevel(toInvoice([400, [300], null]), rules, AGEING_DAY)).toBeNull();
  });

  test('SQL and TypeScript find the same reminder level for an invoice', async () => {
    const { id: customer_id } = await createCustomer(base.db);
    const expected = new Map<number, number>();
    for (const one of REMINDERS) {
      const { due, reminded_on } = toInvoice(one);
      const { id } = await createInvoice(base.db, { customer_id, due_date: due, reminded_on });
      if (one[2] !== null) expected.set(id, one[2]);
    }
    const found = await listDueInvoices(base.db, customer_id, RULES, AGEING_DAY);
    expect(new Map(found.map(({ id, level }) => [id, level]))).toEqual(expected);
  });
});

describe('the worklist of reminders', () => {
  const writer = {
    ...{ actor: commandActor('remind'), now: new Date(`${AGEING_DAY}T12:00:00Z`), timeZone: 'Europe/Berlin' },
  };
  const overdueBy = (days: number) => ({ due_date: addDays(AGEING_DAY, -days), status: 'overdue' as const });
  const list = (day = AGEING_DAY) => reminderList(RULES, day);
  const read = async (given: object, day = AGEING_DAY) =>
    (
      await list(day).read(base.db, list(day).schema.parse(given), {
        request: { page: 1, per_page: 25 },
        start: {},
      })
    ).data;
  const dueIds = async (customer: number, day = AGEING_DAY) =>
    (await listDueInvoices(base.db, customer, RULES, day)).map(({ id }) => id);

  beforeAll(async () => {
    await base.db.execute(sql`update invoices set status = 'paid'`);
  });

  test('an invoice that is settled, disputed, uncollectible or still being collected is not listed for a reminder', async () => {
    const { id: customer_id } = await createCustomer(base.db);
    const its = { customer_id, ...overdueBy(30) };
    const own = await createInvoice(base.db, its);
    const part = await createInvoice(base.db, { ...its, amount_due: '20', amount_credited: '99' });
    const sent = await createStripeInvoice(base.db, its);
    const undated = { customer_id, due_date: null, invoice_date: addDays(AGEING_DAY, -30) };
    const ownUndated = await createInvoice(base.db, undated);
    for (const status of ['draft', 'paid', 'cancelled'] as const)
      await createInvoice(base.db, { ...its, status });
    await createInvoice(base.db, { ...its, amount_due: '0' });
    await createStripeInvoice(base.db, { ...undated, status: 'overdue' });
    await createStripeInvoice(base.db, { ...its, uncollectible: true });
    const pending = await createInvoice(base.db, its);
    await createPayment(base.db, { customer_id, invoice_id: pending.id, status: 'pending' });
    const disputed = await createInvoice(base.db, its);
    const payment = await createPayment(base.db, { customer_id, invoice_id: disputed.id });
    const dispute = {
      ...{ payment_id: payment.id, amount: '5', currency: 'eur', status: 'needs_response' as const },
      ...{ issued_at: writer.now, stripe_dispute_id: 'dp_reminder' },
    };
    await base.db.insert(disputes).values(dispute);
    const listed = [own.id, part.id, sent.id, ownUndated.id].sort();
    expect((await dueIds(customer_id)).sort()).toEqual(listed);
    await base.db.update(disputes).set({ status: 'lost' });
    expect((await dueIds(customer_id)).sort()).toEqual([...listed, disputed.id].sort());
  });

  test('a customer is listed for a reminder once, with the highest level and the sums of the due invoices', async () => {
    const { id: customer_id, customer_number } = await createCustomer(base.db);
    await createInvoice(base.db, { customer_id, ...overdueBy(80), total: '10' });
    const again = { customer_id, reminded_on: [addDays(AGEING_DAY, -20)], total: '5' };
    await createInvoice(base.db, { ...again, ...overdueBy(30), currency: 'usd' });
    await createInvoice(base.db, { ...again, ...overdueBy(31) });
    await createInvoice(base.db, { ...again, ...overdueBy(20) });
    expect(await read({ level: '1', customer: customer_number })).toEqual([]);
    const [row] = await read({ level: '2' });
    expect(row).toMatchObject({
      ...{ level: 2, invoice_count: 3, oldest_due: addDays(AGEING_DAY, -80), days: 80 },
      amounts: [
        { currency: 'eur', amount: 15 },
        { currency: 'usd', amount: 5 },
      ],
      last_reminder: addDays(AGEING_DAY, -20),
    });
    expect(await countReminders(base.db, RULES, AGEING_DAY)).toEqual([1, 1, 0]);
    const file: string[] = [];
    for await (const piece of list().csv(base.db, list().schema.parse({ level: '2' }))) file.push(piece);
    expect(file.join('')).toContain(`"${customer_number}","Ada`);
    expect(file.join('')).toContain('"15 eur, 5 usd"');
  });

  test('the list of reminders can be sorted by the oldest due date in both directions, across its pages', async () => {
    for (const days of [40, 8, 500, 8]) await createInvoice(base.db, overdueBy(days));
    const all = (await read({ level: '1' })).map(({ oldest_due }) => oldest_due);
    expect(all).toEqual(all.toSorted());
    expect(all.length).toBe((await countReminders(base.db, RULES, AGEING_DAY))[0]);
    const back = (await read({ level: '1', sort: '-due' })).map(({ oldest_due }) => oldest_due);
    expect(back).toEqual(all.toReversed());
    const pageAt = (after?: string) => {
      const place = { request: { page: 1, per_page: 25 }, start: { after } };
      return list().read(base.db, list().schema.parse({ per_page: '2' }), place);
    };
    const first = await pageAt();
    const second = await pageAt('next' in first ? String(first.next) : undefined);
    expect([...first.data, ...second.data].map(({ oldest_due }) => oldest_due)).toEqual(all.slice(0, 4));
  });

  test('recording a reminder moves the due invoices to the next level, and undoing the record moves them back', async () => {
    const { id: customer_id } = await createCustomer(base.db);
    const first = await createInvoice(base.db, { customer_id, ...overdueBy(40) });
    const again = { reminded_on: [addDays(AGEING_DAY, -30)] };
    const second = await createInvoice(base.db, { customer_id, ...overdueBy(45), ...again });
    const early = await createInvoice(base.db, { customer_id, ...overdueBy(2) });
    const due = await dueIds(customer_id);
    await noteReminder(base.db, customer_id, due, RULES, writer);
    expect(await dueIds(customer_id)).toEqual([]);
    expect(await findLastReminder(base.db, customer_id)).toMatchObject({
      ...{ day: AGEING_DAY, level: 2 },
      invoices: [
        { id: first.id, level: 1 },
        { id: second.id, level: 2 },
      ],
    });
    expect(await dueIds(customer_id, addDays(AGEING_DAY, 9))).toEqual([early.id]);
    expect((await dueIds(customer_id, addDays(AGEING_DAY, 10))).sort()).toEqual([...due, early.id].sort());
    const notes = () => base.db.select().from(customerNotes).where(sql`customer_id = ${customer_id}`);
    expect((await notes()).map(({ text }) => text)).toEqual([
      `Reminded on ${AGEING_DAY} (level 2): ${second.number}, ${first.number} (level 1)`,
    ]);
    await undoReminder(base.db, customer_id, AGEING_DAY, writer);
    expect(await dueIds(customer_id)).toEqual(due);
    expect((await notes()).length).toBe(2);
    const entries = await base.db
      .select()
      .from(auditLog)
      .where(sql`entity = 'invoice' and entity_id = ${first.id}`);
    expect(
      entries.map(({ action, before, after }) => [action, before?.reminded_on, after?.reminded_on]),
    ).toEqual([
      ['invoice.remind', [], [AGEING_DAY]],
      ['invoice.undo_reminder', [AGEING_DAY], []],
    ]);
  });

  test('recording a reminder is refused if its invoices are not exactly those due, or if it was already recorded', async () => {
    const { id: customer_id } = await createCustomer(base.db);
    const one = await createInvoice(base.db, { customer_id, ...overdueBy(40) });
    const other = await createInvoice(base.db, { customer_id, ...overdueBy(40) });
    const note = (ids: number[]) => noteReminder(base.db, customer_id, ids, RULES, writer);
    await expect(note([one.id])).rejects.toMatchObject({ code: 'conflict' });
    const twice = await Promise.allSettled([note([one.id, other.id]), note([other.id, one.id])]);
    expect(twice.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    await expect(note([])).rejects.toMatchObject({ code: 'conflict' });
    await expect(undoReminder(base.db, customer_id, '2026-01-01', writer)).rejects.toMatchObject({
      code: 'conflict',
    });
  });

  test('the text of a reminder contains invoices, sums, dates and the bank account in the customer’s language', async () => {
    const { id: customer_id } = await createCustomer(base.db);
    await createInvoice(base.db, { customer_id, ...overdueBy(8), number: 'RE-7', total: '1190.5' });
    await createInvoice(base.db, {
      customer_id,
      ...overdueBy(7),
      number: 'RE-8',
      currency: 'usd',
      total: '3',
    });
    const due = await listDueInvoices(base.db, customer_id, RULES, AGEING_DAY);
    const company = { ...(await getCompany(base.db)), name: 'Muster', iban: 'DE89370400440532013000' };
    const customer = { name: '{date} GmbH', customer_number: 'K7', country: 'DE', document_language: null };
    const letter = { settings: DEFAULTS, customer, company, due, today: AGEING_DAY };
    const german = writeReminder({ ...letter, language: 'de' });
    expect(german).toContain(
      'RE-7: 1.190,50 EUR, fällig am 21.11.2026, seit 8 Tagen überfällig\nRE-8: 3,00 USD',
    );
    expect(german).toContain('Guten Tag, {date} GmbH,');
    expect(german).toContain('Offener Betrag: 1.190,50 EUR, 3,00 USD');
    expect(german).toContain('bis zum 06.12.2026');
    expect(german).toContain('Muster\nIBAN DE89 3704 0044 0532 0130 00');
    const english = writeReminder({ ...letter, language: 'en' });
    expect(english).toContain('RE-7: 1,190.50 EUR, due on 21 November 2026, 8 days overdue');
  });

  test('the reminder settings refuse days that do not increase and unknown placeholders, and name the fields', async () => {
    const typed = toTyped(DEFAULTS) as Parameters<typeof saveReminderSettings>[1];
    const save = (changes: object) => saveReminderSettings(base.db, { ...typed, ...changes }, writer);
    const refused = { days_1: '', days_2: '', days_3: '9', en_1: 'Dear {name}', de_2: ' ', pause_days: '0' };
    await expect(save(refused)).rejects.toMatchObject({
      fields: ['pause_days', 'days_1', 'en_1', 'de_2', 'days_3'].map((field) => ({ field })),
    });
    await expect(save({ days_2: '7' })).rejects.toMatchObject({ fields: [{ field: 'days_2' }] });
    await save({ days_3: '', pause_days: '3' });
    expect(toRules(await getReminderSettings(base.db))).toEqual({ days: [7, 21, null], pause: 3 });
    await save({});
    expect(await getReminderSettings(base.db)).toEqual(DEFAULTS);
  });
});
