import { text } from 'node:stream/consumers';
import { eq, sql } from 'drizzle-orm';
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
  findLastReminder,
  listDueInvoices,
  noteReminder,
  type ReminderRules,
  reminderList,
  undoReminder,
} from '@/lib/invoices/reminders';
import { toThousandths } from '@/lib/money';
import {
  AGE_GROUPS,
  AGE_RANGES,
  ageGroupOf,
  ageGroupSql,
  isUnpaid,
  presentAge,
  rangeOfAge,
} from '@/lib/overdue';
import { unquotedLines } from '../support/csv';
import { onPostgres, readRows, useDatabase } from '../support/database';
import {
  createCustomer,
  createDispute,
  createInvoice,
  createPayment,
  createStripeInvoice,
  createTransfer,
} from '../support/factories';
import { problemsOf } from '../support/problems';
import { walkPages } from '../support/walk-pages';

const base = useDatabase();
const drawn = seededChance(48);
const chance = (below: number) => Math.floor(drawn.draw() * below);
const oneOf = <Value>(values: readonly Value[]) => values[chance(values.length)] as Value;
/** Today's date in UTC. The database computes the stored rows for this day. */
const TODAY = new Date().toISOString().slice(0, 10);

/** The columns of the sums of the age groups, in the order of `AGE_GROUPS`. */
const COLUMNS = ['not_due', 'days_1_30', 'days_31_60', 'days_61_90', 'over_90_days'] as const;

/** Reads all pages of the list. */
async function readAll(given: object = {}, today = TODAY) {
  const list = receivableList(today);
  const filters = list.schema.parse(given);
  const found = await walkPages((start) => list.page(base.db, filters, start, 4));
  expect((await list.page(base.db, filters, {}, 4)).count).toBe(found.length);
  return found;
}

/** Computes the list from all rows, without the stored receivables. */
async function expectedRows(today = TODAY): Promise<Record<string, unknown>[]> {
  const [paid, sent] = [await readRows(base.db, payments), await readRows(base.db, transfers)];
  const notes = await readRows(base.db, customerNotes);
  const all = await readRows(base.db, invoices);
  const owed = all.filter(({ status }) => isUnpaid(status));
  const dueOf = (one: (typeof owed)[number]) => one.due_date ?? one.invoice_date;
  const ageOf = (one: (typeof owed)[number]) =>
    ageGroupOf((Date.parse(today) - Date.parse(dueOf(one))) / 86_400_000);
  const sumOf = (some: typeof owed) =>
    some.reduce((sum, { amount_due }) => sum + toThousandths(amount_due), 0) / 1000;
  const latest = <Value>(values: Value[]) => values.sort().at(-1) ?? null;
  const keys = new Set(owed.map(({ customer_id, currency }) => `${customer_id} ${currency}`));
  return [...keys].map((key) => {
    const its = owed.filter(({ customer_id, currency }) => key === `${customer_id} ${currency}`);
    const [{ customer_id: id, currency } = expect.fail()] = its;
    const ofCustomer = <Row extends { customer_id: number }>(all: Row[]) =>
      all.filter(({ customer_id }) => customer_id === id);
    const received = [
      ...ofCustomer(paid).filter(({ status }) => status === 'completed'),
      ...ofCustomer(sent),
    ];
    const kept = ofCustomer(all)
      .filter((one) => one.currency === currency)
      .flatMap((one) => {
        const { status, amount_paid, total } = one;
        const its = paid.filter(
          (each) => each.invoice_id === one.id && each.status === 'completed' && each.currency === currency,
        );
        if (status === 'cancelled') return its.map(({ amount }) => Number(amount));
        return status === 'paid' ? Math.max(0, Number(amount_paid) - Number(total)) : [];
      });
    const unused = ofCustomer(sent).filter((one) => one.currency === currency);
    const credits = [...kept, ...unused.map(({ credit }) => Number(credit))];
    return {
      ...{ id, currency, open_amount: sumOf(its), invoice_count: its.length },
      oldest_due: its.map(dueOf).sort()[0],
      credit: credits.reduce((sum, credit) => sum + credit, 0),
      ...Object.fromEntries(
        AGE_GROUPS.map((age, i) => [COLUMNS[i], sumOf(its.filter((one) => ageOf(one) === age))]),
      ),
      last_payment: latest(received.map(({ payment_date }) => payment_date)),
      last_note: latest(ofCustomer(notes).map(({ created_at }) => created_at.getTime())),
      last_reminder: latest(its.flatMap(({ reminded_on }) => reminded_on.at(-1) ?? [])),
      reminder_level: Math.max(...its.map(({ reminded_on }) => reminded_on.length)) || null,
    };
  });
}

const comparable = ({ customer: _, last_note, ...row }: Receivable) => ({
  ...row,
  last_note: last_note?.getTime() ?? null,
});
const byKey = (a: { id?: unknown; currency?: unknown }, b: typeof a) =>
  Number(a.id) - Number(b.id) || String(a.currency).localeCompare(String(b.currency));

/** Compares the list with `expectedRows`. @returns the list */
async function expectRight(given: object = {}, today = TODAY) {
  const found = await readAll(given, today);
  expect(found.map(comparable).sort(byKey)).toEqual((await expectedRows(today)).sort(byKey));
  return found;
}

describe('the list of receivables', () => {
  const customerIds: number[] = [];
  const dueDates = [null, ...[-40, -1, 0, 1, 29, 30, 31, 60, 61, 90, 91, 400].map((d) => addDays(TODAY, -d))];
  const STATES = ['completed', 'failed'] as const;

  async function change(): Promise<void> {
    const customer_id = oneOf(customerIds);
    const due_date = oneOf(dueDates);
    const status = oneOf(['sent', 'overdue', 'paid', 'cancelled'] as const);
    const [some] = await rows<{ id: number }>(
      base.db,
      sql`select id from invoices order by random() limit 1`,
    );
    const invoice_id = some?.id ?? (await createInvoice(base.db, { customer_id })).id;
    const bill = () => {
      const currency = oneOf(['eur', 'eur', 'usd']);
      const due = 1 + chance(100) / 4;
      const sums = { amount_due: String(due), amount_paid: String(100 + due) };
      return createInvoice(base.db, { customer_id, due_date, status, currency, ...sums });
    };
    const writes = [
      ...[bill, bill, bill],
      () =>
        base.db.execute(sql`update invoices set status = ${status}::invoice_status, due_date = ${due_date}::date,
          amount_due = amount_due + 1, reminded_on = reminded_on || ${addDays(TODAY, -chance(9))}::date,
          customer_id = ${customer_id}::int where id = ${invoice_id}::int`),
      () => {
        const paid = { payment_date: addDays(TODAY, -chance(50)), status: oneOf(STATES) };
        return createPayment(base.db, { customer_id, invoice_id, ...paid });
      },
      () => {
        const money = { amount: '9', credit: String(chance(9)), payment_date: TODAY };
        return createTransfer(base.db, { customer_id, ...money });
      },
      () => {
        const author = { actor_type: 'staff', actor_id: 'ada', actor_name: 'Ada' } as const;
        return base.db.insert(customerNotes).values({ customer_id, text: 'Will pay', ...author });
      },
      () => base.db.execute(sql`delete from payments where id = (select min(id) from payments)`),
    ];
    await oneOf(writes)();
  }

  beforeAll(async () => {
    for (let i = 0; i < 9; i += 1) customerIds.push((await createCustomer(base.db)).id);
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
    await createInvoice(base.db, { customer_id: oneOf(customerIds), amount_due: '0.01' });
    const name = sort.replace(/^-/, '');
    const columns: Record<string, keyof Receivable | undefined> = {
      ...{ open: 'open_amount', invoices: 'invoice_count', due: 'oldest_due' },
      ...{ payment: 'last_payment', note: 'last_note' },
      ...Object.fromEntries(AGE_GROUPS.map((age, i) => [age, COLUMNS[i]])),
    };
    const column = columns[name] ?? expect.fail(`${name} has no column`);
    const values = (await expectRight({ sort })).map((row) => toNumber(row[column]));
    expect(values).toEqual(values.toSorted((a, b) => (sort.startsWith('-') ? b - a : a - b)));
  });

  test.each(['open', '-invoices', 'due', 'payment', '-note'])(
    'sorted by %s, a page of receivables starts after a customer who has paid meanwhile',
    async (sort) => {
      for (const amount_due of ['10', '20.5', '20.5'])
        await createInvoice(base.db, { currency: 'chf', status: 'sent', amount_due });
      const list = receivableList(TODAY);
      const given = list.schema.parse({ currency: 'chf', sort });
      const [first, second, third] = (await list.page(base.db, given)).data;
      const { data, next } = await list.page(base.db, given, {}, 2);
      const ofSecond = eq(invoices.customer_id, second?.id ?? 0);
      await base.db.update(invoices).set({ status: 'paid' }).where(ofSecond);
      expect(data).toEqual([first, second]);
      expect((await list.page(base.db, given, { after: next ?? '' })).data[0]).toEqual(third);
    },
  );

  test('the list of receivables can be filtered by customer and currency', async () => {
    const all = await expectedRows();
    const usd = await readAll({ currency: 'USD' });
    const expected = all.filter(({ currency }) => currency === 'usd').map(({ id }) => id);
    expect(usd.map(({ id }) => id).sort()).toEqual(expected.sort());
    const [first] = usd;
    const own = await readAll({ customer: first?.customer.customer_number });
    expect(own.length).toBe(all.filter(({ id }) => id === first?.id).length);
  });

  test('the CSV file of receivables has one line per customer and currency, in the order of the list', async () => {
    const list = receivableList(TODAY);
    const file = await text(list.csv(base.db, list.schema.parse({})));
    const [, ...lines] = unquotedLines(file.trim());
    const listed = (await readAll()).map(({ customer }) => expect.stringContaining(customer.customer_number));
    expect(lines).toEqual(listed);
  });

  test('a wrong stored row of receivables is found by the check and corrected by a recount', async () => {
    // A check reads up to a hundred customers from a random one, so it always reads the last of fewer customers.
    const { customer_id } = await createInvoice(base.db);
    expect(await base.db.$count(customers)).toBeLessThan(100);
    await base.db.execute(sql`select rebuild_receivables()`);
    await base.db.execute(
      sql`update receivables set open_amount = open_amount + 3 where customer_id = ${customer_id}`,
    );
    expect(await checkCounts(base.db)).toEqual(['receivables']);
    const excesses = [];
    for await (const { list, wrong } of recountLists(base.db))
      if (list === 'receivables') excesses.push(...wrong.map(({ excess }) => excess));
    expect(excesses).toEqual([3]);
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

  test('the list of receivables leaves out customers without unpaid invoices', async () => {
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
/** Days after the due date, by the age group that contains them. */
const AGES = {
  'not-due': [-400, -1, 0],
  '1-30': [1, 30],
  '31-60': [31, 60],
  '61-90': [61, 90],
  'over-90': [91, 4000],
};
const EXAMPLES = Object.entries(AGES).flatMap(([group, days]) => days.map((one) => [one, group] as const));

test.each(EXAMPLES)('an invoice %d days after its due date is in the age group %s', (days, group) => {
  expect(ageGroupOf(days)).toBe(group);
});

test('SQL and TypeScript put an invoice of each age from -50 to 149 days into the same age group', async () => {
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
  const wider = { 'over-30': ['31-60', '61-90', 'over-90'], 'over-60': ['61-90', 'over-90'] };
  const groups: string[] = Object.hasOwn(wider, age) ? wider[age as keyof typeof wider] : [age];
  const covered = EXAMPLES.filter(([days]) => (from ?? -1e9) <= days && days <= (to ?? 1e9));
  expect(covered).toEqual(EXAMPLES.filter(([, group]) => groups.includes(group)));
});

test('a former age in a link filters by the present age that includes it, and a present age by itself', () => {
  const present = { '1-14': '1-30', '15-30': '1-30', '31-60': '31-60', 'over-60': 'over-60' };
  for (const [old, age] of Object.entries({ ...present, 'over-30': 'over-30', 'not-due': 'not-due' }))
    expect([old, presentAge(old), overdueFilters.parse({ age: old }).age]).toEqual([old, age, age]);
});

test('an unknown age in a filter is refused with the list of valid ages', () => {
  expect(() => overdueFilters.parse({ age: '1-99' })).toThrow(/must be one of not-due, 1-30/);
});

const RULES: ReminderRules = { days: [7, 21, 35], pause: 10 };
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

const daysAgo = (days: number) => addDays(AGEING_DAY, -days);

/** Creates an invoice for each row, and expects exactly the invoices that are due for a reminder, with their levels. */
async function expectDue(rules: ReminderRules, reminders: typeof REMINDERS) {
  const { id: customer_id } = await createCustomer(base.db);
  const expected = new Map<number, number>();
  for (const [overdue, reminded, level] of reminders) {
    const days = { due_date: daysAgo(overdue), reminded_on: reminded.map(daysAgo) };
    const { id } = await createInvoice(base.db, { customer_id, ...days });
    if (level !== null) expected.set(id, level);
  }
  const found = await listDueInvoices(base.db, customer_id, rules, AGEING_DAY);
  expect(new Map(found.map(({ id, level }) => [id, level]))).toEqual(expected);
}

test('the level of the reminder that is due follows from the age of an invoice and its earlier reminders', () =>
  expectDue(RULES, REMINDERS));

test('only a reminder level that has a number of days can be due', () =>
  expectDue({ days: [7, null, null], pause: 10 }, [
    [400, [], 1],
    [400, [300], null],
  ]));

describe('the worklist of reminders', () => {
  const now = new Date(`${AGEING_DAY}T12:00:00Z`);
  const writer = { actor: commandActor('remind'), now, timeZone: 'Europe/Berlin' };
  const overdueBy = (days: number) => ({ due_date: addDays(AGEING_DAY, -days), status: 'overdue' as const });
  const list = reminderList(RULES, AGEING_DAY);
  const at = (start = {}) => ({ request: { page: 1, per_page: 25 }, start });
  const read = async (given: object) => (await list.read(base.db, list.schema.parse(given), at())).data;
  const dueIds = async (customer: number, day = AGEING_DAY) =>
    (await listDueInvoices(base.db, customer, RULES, day)).map(({ id }) => id).sort();

  beforeAll(async () => {
    await base.db.execute(sql`update invoices set status = 'paid'`);
  });

  test('drafts and invoices that are settled, cancelled, disputed, uncollectible or being collected are not listed for a reminder', async () => {
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
    const { id: payment_id } = await createPayment(base.db, { customer_id, invoice_id: disputed.id });
    await createDispute(base.db, { payment_id, amount: '5' });
    const listed = [own.id, part.id, sent.id, ownUndated.id].sort();
    expect(await dueIds(customer_id)).toEqual(listed);
    await base.db.update(disputes).set({ status: 'lost' });
    expect(await dueIds(customer_id)).toEqual([...listed, disputed.id].sort());
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
    const file = await text(list.csv(base.db, list.schema.parse({ level: '2' })));
    expect(file).toContain(`"${customer_number}","Ada`);
    expect(file).toContain('"15 eur, 5 usd"');
  });

  test('the list of reminders can be sorted by the oldest due date in both directions, and its pages keep the ascending order', async () => {
    for (const days of [40, 8, 500, 8]) await createInvoice(base.db, overdueBy(days));
    const all = (await read({ level: '1' })).map(({ oldest_due }) => oldest_due);
    expect(all).toEqual(all.toSorted());
    expect(all.length).toBe((await countReminders(base.db, RULES, AGEING_DAY))[0]);
    const back = (await read({ level: '1', sort: '-due' })).map(({ oldest_due }) => oldest_due);
    expect(back).toEqual(all.toReversed());
    const pageAt = (after?: string) =>
      list.read(base.db, list.schema.parse({ per_page: '2' }), at({ after }));
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
    expect(await dueIds(customer_id, addDays(AGEING_DAY, 10))).toEqual([...due, early.id].sort());
    const notes = () => readRows(base.db, customerNotes, eq(customerNotes.customer_id, customer_id));
    const text = `Reminded on ${AGEING_DAY} (level 2): ${second.number}, ${first.number} (level 1)`;
    expect(await notes()).toMatchObject([{ text }]);
    const last = (await findLastReminder(base.db, customer_id)) ?? expect.fail();
    await undoReminder(base.db, customer_id, last, writer);
    expect(await dueIds(customer_id)).toEqual(due);
    expect((await notes()).length).toBe(2);
    const log = await readRows(base.db, auditLog, sql`entity = 'invoice' and entity_id = ${first.id}`);
    const [none, reminded] = [{ reminded_on: [] }, { reminded_on: [AGEING_DAY] }];
    expect(log).toMatchObject([
      { action: 'invoice.remind', before: none, after: reminded },
      { action: 'invoice.undo_reminder', before: reminded, after: none },
    ]);
  });

  test('recording a reminder is refused if its invoices are not exactly those due, and undoing one if it is not the last', async () => {
    const { id: customer_id } = await createCustomer(base.db);
    const one = await createInvoice(base.db, { customer_id, ...overdueBy(40) });
    const other = await createInvoice(base.db, { customer_id, ...overdueBy(40) });
    const note = (ids: number[]) => problemsOf(noteReminder(base.db, customer_id, ids, RULES, writer));
    expect(await note([one.id])).toEqual(['conflict']);
    const twice = await Promise.all([note([one.id, other.id]), note([other.id, one.id])]);
    expect(twice.sort()).toEqual([[], ['conflict']]);
    expect(await note([])).toEqual(['conflict']);
    const earlier = { day: '2026-01-01', recordedAt: null };
    expect(await problemsOf(undoReminder(base.db, customer_id, earlier, writer))).toEqual(['conflict']);
  });

  test('the text of a reminder names invoices, sums, dates and the bank account, and formats them for its language', async () => {
    const { id: customer_id } = await createCustomer(base.db);
    const bill = (days: number, number: string, more: object) =>
      createInvoice(base.db, { customer_id, ...overdueBy(days), number, ...more });
    await bill(8, 'RE-7', { total: '1190.5' });
    await bill(7, 'RE-8', { total: '3', currency: 'usd', stripe_invoice_id: 'in_reminded' });
    const due = await listDueInvoices(base.db, customer_id, RULES, AGEING_DAY);
    const company = { ...(await getCompany(base.db)), name: 'Muster', iban: 'DE89370400440532013000' };
    const customer = { name: '{date} GmbH', customer_number: 'K7', country: 'DE', document_language: null };
    const letter = { settings: DEFAULTS, customer, company, due, today: AGEING_DAY };
    const german = writeReminder({ ...letter, language: 'de' });
    for (const part of [
      'RE-7: 1.190,50 EUR, fällig am 21.11.2026, seit 8 Tagen überfällig\nRE-8: 3,00 USD',
      'seit 7 Tagen überfällig, zahlbar über die Zahlungsseite von Stripe\n',
      'Guten Tag, {date} GmbH,',
      'Offener Betrag: 1.190,50 EUR, 3,00 USD',
      'bis zum 06.12.2026',
      'Muster\nIBAN DE89 3704 0044 0532 0130 00',
    ])
      expect(german).toContain(part);
    const english = writeReminder({ ...letter, language: 'en' });
    expect(english).toContain('RE-7: 1,190.50 EUR, due on 21 November 2026, 8 days overdue');
  });

  test('the reminder settings are saved unless days, the pause or a text are invalid, and the refusal names these fields', async () => {
    const typed = toTyped(DEFAULTS) as Parameters<typeof saveReminderSettings>[1];
    const save = (changes: object) => saveReminderSettings(base.db, { ...typed, ...changes }, writer);
    const refused = { days_1: '', days_2: '', days_3: '9', en_1: 'Dear {name}', de_2: ' ', pause_days: '0' };
    const fields = ['pause_days', 'days_1', 'en_1', 'de_2', 'days_3'];
    expect(await problemsOf(save(refused))).toEqual(fields);
    expect(await problemsOf(save({ days_2: '7' }))).toEqual(['days_2']);
    await save({ days_3: '', pause_days: '3' });
    expect(toRules(await getReminderSettings(base.db))).toEqual({ days: [7, 21, null], pause: 3 });
    await save({});
    expect(await getReminderSettings(base.db)).toEqual(DEFAULTS);
  });
});
