import { sql } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { rows } from '@/db/database';
import { customerNotes, customers, invoices, payments, transfers } from '@/db/schema';
import { seededChance } from '@/lib/chance';
import { checkCounts, recountLists } from '@/lib/counted-list/check-counts';
import { addDays } from '@/lib/dates';
import { overdueFilters } from '@/lib/invoices/overdue-worklist';
import { type Receivable, receivableList } from '@/lib/invoices/receivables';
import { AGE_GROUPS, AGE_RANGES, ageGroupOf, ageGroupSql, presentAge, rangeOfAge } from '@/lib/overdue';
import { onPostgres, useDatabase } from '../support/database';
import { createCustomer, createInvoice, createPayment, createTransfer } from '../support/factories';

const base = useDatabase();
const drawn = seededChance(48);
const chance = (below: number) => Math.floor(drawn.draw() * below);
const oneOf = <Value>(values: readonly Value[]) => values[chance(values.length)] as Value;
/** The database computes the stored rows on its own day, which the runs of this test share. */
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
          amount_due = amount_due + 1, customer_id = ${customer_id}::int where id = ${some.id}::int`,
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

  test('the list is right after every change, whether or not the rows are computed again', async () => {
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

  test('the sums by age are right on later and earlier days, although stored rows are of today', async () => {
    for (const days of [-100, -31, -1, 1, 2, 30, 31, 59, 200]) await expectRight({}, addDays(TODAY, days));
  });

  const orders = receivableList(TODAY).schema.shape.sort.unwrap().options;
  test.each(orders)('the list is sorted by %s across its pages', async (sort) => {
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

  test('the filters select a customer and a currency', async () => {
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

  test('the file has one line per customer and currency, in the order of the list', async () => {
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

  test('a wrong row raises an alert until a recount', async () => {
    await base.db.execute(sql`select rebuild_receivables()`);
    await base.db.execute(sql`update receivables set open_amount = open_amount + 3
      where (customer_id, currency) = (select customer_id, currency from receivables limit 1)`);
    const seen = new Set<string>();
    // The check looks at customers from a random place on, so it may miss the row.
    for (let i = 0; i < 60; i += 1) for (const name of await checkCounts(base.db)) seen.add(name);
    expect([...seen]).toEqual(['receivables']);
    const wrong = [];
    for await (const { list, wrong: found } of recountLists(base.db))
      if (list === 'receivables') wrong.push(...found);
    expect(wrong.map(({ excess }) => excess)).toEqual([3]);
    await expectRight();
  });

  test('concurrent writes of the same customers leave the list right', async () => {
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

  test('a customer without open invoices is not listed', async () => {
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
  test.each(EXAMPLES)('an invoice %d days after its due date is in the group %s', (days, group) => {
    expect(ageGroupOf(days)).toBe(group);
  });

  test('SQL puts every day into the same group as the rule', async () => {
    const days = Array.from({ length: 200 }, (_, i) => i - 50);
    const found = await rows<{ days: number; age: string }>(
      base.db,
      sql`select days, ${ageGroupSql(sql`(${AGEING_DAY}::date - days)`, AGEING_DAY)} as age
        from unnest(${`{${days}}`}::int[]) as days order by days`,
    );
    expect(found).toEqual(days.map((one) => ({ days: one, age: ageGroupOf(one) })));
  });

  test.each(AGE_RANGES)('the filter %s holds exactly the days of its groups', (age) => {
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
  ])('an old link to the age %s filters by %s', (old, present) => {
    expect(presentAge(old)).toBe(present);
    expect(overdueFilters.parse({ age: old }).age).toBe(present);
  });

  test('an unknown age is refused with the list of the ages', () => {
    expect(() => overdueFilters.parse({ age: '1-99' })).toThrow(/must be one of not-due, 1-30/);
  });
});
