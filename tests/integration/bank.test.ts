import { text } from 'node:stream/consumers';
import { eq } from 'drizzle-orm';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  bankEntries,
  bankStatements,
  company,
  invoices,
  payments,
  refunds,
  staffTasks,
  stripePayouts,
  transfers,
} from '@/db/schema';
import { commandActor } from '@/lib/audit/audit-log';
import {
  bookEntry,
  bookExactMatches,
  bookNamedEntry,
  deleteRule,
  explainAsPayout,
  ignoreOutgoing,
  setEntryState,
  undoEntry,
} from '@/lib/bank/book-entries';
import { proposeFor } from '@/lib/bank/proposals';
import {
  countEntries,
  entryList,
  getStatement,
  listExplained,
  listOpenEntries,
  listRules,
  statementList,
} from '@/lib/bank/queries';
import { bookReturn, proposeReturns } from '@/lib/bank/returns';
import { uploadStatement } from '@/lib/bank/upload';
import { eraseCustomer } from '@/lib/erasure/erase-customer';
import { toThousandths } from '@/lib/money';
import { getPayment, getTransfer } from '@/lib/payments/queries';
import type { PaymentWriter } from '@/lib/payments/schema';
import { deleteTransfer, payBackCredit, recordTypedRefund, undoPayBack } from '@/lib/payments/typed-payment';
import { deletePayment, recordPayment, updatePayment } from '@/lib/payments/write-payment';
import { comparePayouts } from '@/lib/sync/reconcile/payouts';
import type { Run } from '@/lib/sync/reconcile/run';
import type { SyncDeps } from '@/lib/sync/sync-deps';
import { readRow, readRows, useDatabase } from '../support/database';
import { createCustomer, createInvoice } from '../support/factories';
import { problemsOf } from '../support/problems';

const base = useDatabase();
const OWN = 'DE02120300000000202051';
const NOW = new Date('2026-11-20T12:00:00Z');
const writer: PaymentWriter = { actor: commandActor('test'), source: 'staff', now: NOW, timeZone: 'UTC' };

beforeAll(async () => {
  const set = { name: 'Our company', iban: OWN, small_business: false };
  await base.db.insert(company).values(set).onConflictDoUpdate({ target: company.id, set });
});

/** The day, amount, name, account and text of an entry in an uploaded file. */
type Line = [day: string, amount: string, name: string, iban: string, text: string];

const HEADER =
  '"Booking Date","Value Date","Partner Name","Partner Iban","Type","Payment Reference","Amount (EUR)"';
const upload = (lines: Line[], account?: string) => {
  const rows = lines.map(([day, amount, from, iban, text]) => [day, day, from, iban, 'T', text, amount]);
  const csv = [HEADER, ...rows.map((cells) => cells.map((cell) => `"${cell}"`).join(','))].join('\n');
  return uploadStatement(base.db, { name: 'n26.csv', account, bytes: Buffer.from(csv) }, writer);
};

/** Uploads entries. @returns the id of the statement, and its open entries with their proposals */
async function uploadOpen(...lines: Line[]) {
  const { id } = await upload(lines);
  const open = await openOf(id);
  return { id, open, entries: open.map(({ entry }) => entry.id), first: open[0] ?? expect.fail() };
}

/** Uploads an MT940 statement. By default, its only entry is the difference between the balances. */
function uploadMt940(
  [iban, currency]: [iban: string, currency: string],
  day: string,
  [opening, closing]: [number, number],
  [kind, code, text] = ['C', 'NTRF', 'from Ada'],
  amounts: [kind: string, amount: number][] = [[kind, Math.abs(closing - opening)]],
) {
  const short = day.slice(2).replaceAll('-', '');
  const entries = amounts.map(
    ([its, amount]) => `:61:${short}${its}${amount},00${code}NONREF\n:86:${text}\n`,
  );
  const file = `:20:X\n:25:${iban}\n:60F:C${short}${currency}${opening},00
${entries.join('')}:62F:C${short}${currency}${closing},00\n-`;
  return uploadStatement(base.db, { name: 'x.sta', bytes: Buffer.from(file) }, writer);
}

let drawn = 0;
/** Returns a day that no other test uses. Otherwise an equal entry of another test would count as already known. */
function newDay(): string {
  drawn += 1;
  return new Date(Date.UTC(2024, 0, drawn)).toISOString().slice(0, 10);
}
const newIban = () => `DE${String(10 ** 19 + drawn * 7 + Math.trunc(drawn / 3)).padStart(20, '0')}`;

/** Creates an unpaid invoice, of a new customer by default. */
const invoice = async (total: string, customer_id?: number) => {
  const sums = { total, subtotal: total, tax: '0' };
  const made = await createInvoice(base.db, { ...(customer_id && { customer_id }), ...sums });
  return { id: made.id, number: made.number ?? '', customer_id: made.customer_id };
};
/** Creates an invoice for 45 EUR that a payment with this reference has paid. @returns both ids */
async function paidByHand(payment_reference: string) {
  const { id: invoice_id, customer_id } = await invoice('45');
  const payment = { invoice_id, customer_id, amount: 45, payment_date: newDay(), payment_reference };
  return { due: invoice_id, id: (await recordPayment(base.db, payment, writer)).payment.id };
}
const dueOf = async (id: number) => Number((await readRow(base.db, invoices, id)).amount_due);
const statusOf = async (id: number) => (await getPayment(base.db, id)).status;
const openOf = async (statement: number) =>
  proposeFor(base.db, await listOpenEntries(base.db, await getStatement(base.db, statement), 100));
const countsOf = async (statement: number) => countEntries(base.db, await getStatement(base.db, statement));
const explainedOf = async (statement: number) => {
  const page = { page: 1, per_page: 10 };
  return (await listExplained(base.db, await getStatement(base.db, statement), page)).data;
};
/** Returns the problems of writes that run at the same time, those of the successful write first. */
const problemsAtOnce = async (writes: Promise<unknown>[]) =>
  (await Promise.all(writes.map(problemsOf))).sort();

const payout = async (stripe_payout_id: string, arrival_date: string, amount: string) => {
  const state = { status: 'paid', is_automatic: false, is_listed: false, issued_at: NOW };
  const values = { stripe_payout_id, arrival_date, amount, ...state };
  const [row] = await base.db.insert(stripePayouts).values(values).returning();
  return row?.id ?? 0;
};

test('a bank credit from Stripe is proposed as a payout, and accepting it pays no invoice', async () => {
  const other = await invoice('214.92');
  const day = newDay();
  const payoutId = await payout('po_bank_1', day, '214.92');
  const { id, open, entries } = await uploadOpen(
    [day, '214.92', 'STRIPE PAYMENTS EUROPE', 'IE29AIBK93115212345678', `STRIPE ${other.number}`],
    [day, '214.92', 'Ada', '', 'my payment'],
  );
  expect(open).toMatchObject([
    { payout: { stripe_payout_id: 'po_bank_1' }, proposals: [] },
    { payout: null },
  ]);
  const [entry = 0] = entries;
  await explainAsPayout(base.db, entry, payoutId, writer);
  const explained = { id: entry, transfer_id: null, payout: { id: payoutId } };
  expect(await explainedOf(id)).toMatchObject([explained]);
  expect(await dueOf(other.id)).toBe(214.92);
  expect(await countsOf(id)).toMatchObject({ all: 2, open: 1 });
  expect(await problemsOf(explainAsPayout(base.db, entry, payoutId, writer))).toEqual(['conflict']);
  await undoEntry(base.db, entry, writer);
  expect((await openOf(id))[0]?.payout?.id).toBe(payoutId);
});

test('each payout matches only one of several equal bank entries, and a negative payout matches a debit', async () => {
  const [day, next] = [newDay(), newDay()];
  await payout('po_bank_2', day, '50');
  await payout('po_bank_3', next, '50');
  await payout('po_bank_4', next, '-7.5');
  const lines = ['50.00', '50.00', '50.00', '-7.50'].map((sum): Line => [next, sum, 'Stripe', '', 'payout']);
  const found = (await uploadOpen(...lines)).open.map((one) => one.payout?.stripe_payout_id);
  expect(found.sort()).toEqual(['po_bank_2', 'po_bank_3', 'po_bank_4', undefined]);
});

test('only one of two bank entries is linked to a payout if both are accepted at the same time', async () => {
  const day = newDay();
  const payoutId = await payout('po_bank_6', day, '64.10');
  const lines = ['payout', 'the same again'].map((text): Line => [day, '64.10', 'Stripe', '', text]);
  const { entries } = await uploadOpen(...lines);
  const writes = entries.map((entry) => explainAsPayout(base.db, entry, payoutId, writer));
  expect(await problemsAtOnce(writes)).toEqual([[], ['conflict']]);
});

test('a payout that is missing from the bank statements of its days has a task until its bank entry is uploaded', async () => {
  const days = Array.from({ length: 10 }, newDay);
  const dayAfter = (n: number) => days[n + 1] ?? '';
  const id = await payout('po_bank_5', dayAfter(0), '81.25');
  const deps = { db: base.db, now: () => new Date(`${dayAfter(8)}T12:00:00Z`), timeZone: 'UTC' } as SyncDeps;
  /**
   * Uploads a statement and compares the payouts.
   *
   * @returns a list with whether the task is open, or an empty list if the task does not exist
   */
  const uploadAndCompare = async (...lines: Line[]) => {
    await upload(lines);
    await comparePayouts(deps, { id: 0 } as Run, String(id - 1));
    const found = await readRows(base.db, staffTasks, eq(staffTasks.subject, 'po_bank_5 not_in_bank'));
    return found.map(({ done_at }) => done_at === null);
  };
  const other = (n: number): Line => [dayAfter(n), '1.00', 'Ada', '', 'x'];
  expect(await uploadAndCompare(other(-1), other(0))).toEqual([]);
  // There is no task yet, because a statement is missing. Weekends and bank holidays never last for seven days.
  expect(await uploadAndCompare(other(8))).toEqual([]);
  expect(await uploadAndCompare(other(4))).toEqual([true]);
  expect(await uploadAndCompare([dayAfter(0), '81.25', 'Stripe', '', 'po'])).toEqual([false]);
});

test('a bank file that is uploaded again or overlaps another adds no duplicates, and keeps equal entries of one day', async () => {
  const [first, second] = [newDay(), newDay()];
  const twice: Line = [first, '10.00', 'Ada', '', 'same'];
  const { id } = await upload([twice, twice]);
  expect(await upload([twice, twice])).toMatchObject({ id, isKnown: true });
  const added: Line = [second, '5.00', 'Ada', '', 'new'];
  const overlap = await upload([added, [first, '10.00', 'A', '', 'other text'], twice]);
  expect(await countsOf(overlap.id)).toMatchObject({ all: 3 });
  const { open } = await uploadOpen(twice, twice, [first, '10.00', 'Eve', '', 'third']);
  expect(open.map(({ entry }) => entry.purpose)).toEqual(['same', 'same', 'third']);
});

const ENTRY: [string, string, string] = ['C', 'NTRF', 'from Ada'];
type Booked = ['C' | 'D', number];
/** A collective credit as one entry, and as its parts. */
const [WHOLE, PARTS]: [Booked[], Booked[]] = [
  [['C', 300]],
  [
    ['C', 100],
    ['C', 200],
  ],
];
test.each<[string, Booked[], Booked[], number]>([
  ['its parts, if another file has it as one entry', WHOLE, PARTS, 1],
  ['one entry, if another file has its parts', PARTS, WHOLE, 2],
])('a collective credit of a bank file is stored only once as %s', async (_, first, second, all) => {
  const day = newDay();
  const { id } = await uploadMt940([OWN, 'EUR'], day, [100, 400], ENTRY, first);
  await uploadMt940([OWN, 'EUR'], day, [100, 400], ENTRY, second);
  expect(await countsOf(id)).toMatchObject({ all });
});

test('a collective credit is stored again as its parts if the other bank file has further entries of its day', async () => {
  const day = newDay();
  const { id } = await uploadMt940([OWN, 'EUR'], day, [100, 400], ENTRY, WHOLE);
  const parts: Booked[] = [...PARTS, ['C', 50], ['D', 50]];
  await uploadMt940([OWN, 'EUR'], day, [100, 400], ENTRY, parts);
  expect(await countsOf(id)).toMatchObject({ all: 5 });
});

test('a collective credit is stored once although the earlier bank statement ends at midnight of its day', async () => {
  const [before, day] = [newDay(), newDay()];
  const { id: earlier } = await uploadMt940([OWN, 'EUR'], before, [50, 100]);
  await base.db.update(bankStatements).set({ last_day: day }).where(eq(bankStatements.id, earlier));
  const { id } = await uploadMt940([OWN, 'EUR'], day, [100, 400], ENTRY, WHOLE);
  await uploadMt940([OWN, 'EUR'], day, [100, 400], ENTRY, PARTS);
  expect(await countsOf(id)).toMatchObject({ all: 1 });
});

test('a second statement of a day adds its credits although a file without balances had those of the first one', async () => {
  const day = newDay();
  await upload([[day, '300.00', 'Ada', '', 'x']], OWN);
  await uploadMt940([OWN, 'EUR'], day, [100, 400], ENTRY, WHOLE);
  const { id } = await uploadMt940([OWN, 'EUR'], day, [400, 700], ENTRY, PARTS);
  expect(await countsOf(id)).toMatchObject({ all: 3 });
});

test.each([
  ['at the end of the day', (day: string) => day],
  ['at midnight', () => newDay()],
])(
  'a collective credit is stored once on a day without a change of balance if the first file ends %s',
  async (_, endOf) => {
    const day = newDay();
    const { id } = await uploadMt940([OWN, 'EUR'], day, [400, 400], ENTRY, [
      ['C', 300],
      ['D', 300],
    ]);
    await base.db
      .update(bankStatements)
      .set({ last_day: endOf(day) })
      .where(eq(bankStatements.id, id));
    const parts: Booked[] = [...PARTS, ['D', 300]];
    await uploadMt940([OWN, 'EUR'], day, [400, 400], ENTRY, parts);
    expect(await countsOf(id)).toMatchObject({ all: 2 });
  },
);

test('a second statement of the same day that begins where the first ends adds its entries, even if the sums are equal', async () => {
  const day = newDay();
  const { id } = await uploadMt940([OWN, 'EUR'], day, [100, 400]);
  await uploadMt940([OWN, 'EUR'], day, [400, 700], ENTRY, PARTS);
  expect(await countsOf(id)).toMatchObject({ all: 3 });
});

test('each part of a day adds its credit of the same amount once if its bank statement begins where another ends', async () => {
  const day = newDay();
  for (const texts of [
    ['from Ada', 'from Bob', 'from Cy'],
    ['Ada', 'Bob', 'Cy'],
  ]) {
    let id = 0;
    for (const [at, text] of texts.entries()) {
      const opening = 100 + 300 * at;
      ({ id } = await uploadMt940([OWN, 'EUR'], day, [opening, opening + 300], ['C', 'NTRF', text]));
    }
    expect(await countsOf(id)).toMatchObject({ all: 3 });
  }
});

test('the entries of a day that leaves the balance unchanged are stored once, although the statement of a longer period has the same closing balance', async () => {
  const [first_day, day] = [newDay(), newDay()];
  const booked: Booked[] = [
    ['C', 300],
    ['D', 300],
  ];
  const { id } = await uploadMt940([OWN, 'EUR'], day, [400, 400], ENTRY, booked);
  await base.db.update(bankStatements).set({ first_day, opening: '50' }).where(eq(bankStatements.id, id));
  await uploadMt940([OWN, 'EUR'], day, [400, 400], ['C', 'NTRF', 'other'], booked);
  expect(await countsOf(id)).toMatchObject({ all: 2 });
});

test.each<[string, [number, number][], number, string, number]>([
  ['the whole day', [[1000, 1050]], 1000, 'from Ada', 2],
  ['the whole day in another format', [[1000, 1050]], 1000, 'Ada', 2],
  [
    'the whole day after those of its parts',
    [
      [1000, 1050],
      [1050, 1000],
    ],
    1000,
    'Ada',
    2,
  ],
  ['the rest of the day', [[1000, 1050]], 1050, 'from Bob', 3],
])(
  'a statement of %s without a change of balance adds only entries that an earlier statement does not have',
  async (_, parts, balance, text, all) => {
    const day = newDay();
    for (const [opening, closing] of parts) {
      await uploadMt940(
        [OWN, 'EUR'],
        day,
        [opening, closing],
        [opening < closing ? 'C' : 'D', 'NTRF', 'from Ada'],
      );
    }
    const booked: Booked[] = [
      ['C', 50],
      ['D', 50],
    ];
    const { id } = await uploadMt940([OWN, 'EUR'], day, [balance, balance], ['C', 'NTRF', text], booked);
    expect(await countsOf(id)).toMatchObject({ all });
  },
);

const FOREIGN = 'DE25500105170137075030';

test('a bank statement of an account that is not the company’s is refused, and the error names the account', async () => {
  await expect(uploadMt940([FOREIGN, 'EUR'], newDay(), [1, 2])).rejects.toMatchObject({
    fields: [{ field: 'file', message: expect.stringContaining(FOREIGN) }],
  });
});

describe('a company with two bank accounts', () => {
  const SECOND = 'AT611904300234573201';
  const setOther = (other_ibans: string | null) =>
    base.db.update(company).set({ other_ibans }).where(eq(company.id, 1));
  beforeAll(() => setOther(SECOND));
  afterAll(() => setOther(null));

  test('a bank statement is compared only with earlier statements of the same account and currency', async () => {
    const [one, two] = [newDay(), newDay()];
    const of = [
      await uploadMt940([OWN, 'EUR'], one, [100, 110]),
      await uploadMt940([SECOND, 'EUR'], one, [500, 510]),
      await uploadMt940([SECOND, 'USD'], one, [7, 17]),
    ];
    expect(of.map(({ isKnown }) => isKnown)).toEqual([false, false, false]);
    const later = await uploadMt940([SECOND, 'EUR'], two, [510, 520]);
    const [, euros, dollars] = of.map(({ id }) => id);
    const { before } = await getStatement(base.db, later.id);
    expect(before).toMatchObject({ id: euros, account: SECOND, closing: 510 });
    for (const { id } of [...of, later]) expect(await countsOf(id)).toMatchObject({ all: 1 });
    expect(await openOf(later.id)).toMatchObject([{ entry: { account: SECOND, currency: 'eur' } }]);
    expect((await getStatement(base.db, dollars ?? 0)).before).toBeNull();
    const listed = await statementList.page(base.db, { account: 'AT61', sort: '-date' });
    expect(listed.data.map((row) => `${row.id} ${row.currency} ${row.open_entries}`)).toEqual([
      ...[`${later.id} eur 1`, `${dollars} usd 1`, `${euros} eur 1`],
    ]);
  });

  test('a payout is missing only if the statements of the account that received the latest payout cover its days', async () => {
    const days = Array.from({ length: 11 }, newDay);
    const [paid = '', , arrival = '', , , , gap = '', , , , last = ''] = days;
    const { id: statement } = await upload([[paid, '7.77', 'Stripe', '', 'po']], OWN);
    const [first] = await openOf(statement);
    await explainAsPayout(base.db, first?.entry.id ?? 0, await payout('po_bank_7', paid, '7.77'), writer);
    const id = await payout('po_bank_8', arrival, '8.88');
    const deps = { db: base.db, now: () => new Date(`${last}T12:00:00Z`), timeZone: 'UTC' } as SyncDeps;
    const uploadAndCompare = async (account: string, ...covered: string[]) => {
      await upload(
        covered.map((day): Line => [day, '1.00', 'Ada', '', 'x']),
        account,
      );
      await comparePayouts(deps, { id: 0 } as Run, String(id - 1));
      return (await readRow(base.db, stripePayouts, id)).differences;
    };
    expect(await uploadAndCompare(OWN, arrival)).toEqual([]);
    expect(await uploadAndCompare(OWN, last)).toEqual([]);
    expect(await uploadAndCompare(SECOND, ...days)).toEqual([]);
    expect(await uploadAndCompare(OWN, gap)).toEqual(['not_in_bank']);
  });

  test('a bank file that names no account is refused unless an account of the company is chosen', async () => {
    const lines: Line[] = [[newDay(), '1.00', 'X', '', 'x']];
    const message = 'does not name its account: choose the account above';
    await expect(upload(lines)).rejects.toMatchObject({ fields: [{ field: 'file', message }] });
    const { id } = await upload(lines, SECOND);
    expect(await getStatement(base.db, id)).toMatchObject({ account: SECOND });
    await expect(upload(lines, FOREIGN)).rejects.toMatchObject({
      fields: [{ message: expect.stringContaining('which is not an account of the company') }],
    });
  });
});

test('the CSV file of a bank statement contains the entries of all its days, and whether each is booked', async () => {
  const due = await invoice('90');
  const [first, second] = [newDay(), newDay()];
  const { id } = await upload([
    [first, '90.00', '=Ada', newIban(), due.number],
    [second, '-9.00', 'Shop', '', 'paper'],
  ]);
  await bookExactMatches(base.db, id, writer);
  const { account, currency, first_day: from, last_day: to } = await getStatement(base.db, id);
  const csv = await text(entryList.csv(base.db, { account, currency, from, to }));
  expect(csv.trim().split(/\r?\n/)).toEqual([
    expect.stringContaining('"id","account","currency","day","amount","name"'),
    expect.stringMatching(new RegExp(`"${first}","90",.*"booked"`)),
    expect.stringMatching(new RegExp(`"${second}","-9",.*"open"`)),
  ]);
});

test('a bank statement of more than 4 MB is read, and uploading its entries in another order adds no entries', async () => {
  const days = Array.from({ length: 100 }, () => newDay());
  const lines = days.flatMap((day) =>
    Array.from({ length: 20 }, (_, at): Line => [day, `${at}.01`, 'Ada', '', `x ${at} `.repeat(500)]),
  );
  const { id } = await upload(lines);
  const again = await upload([...lines].reverse());
  expect(again.isKnown).toBe(false);
  for (const one of [id, again.id]) expect(await countsOf(one)).toMatchObject({ all: 2000 });
}, 60_000);

test('exact matches are booked once per invoice, outgoing entries can be ignored, and an undone entry is open again', async () => {
  const one = await invoice('100');
  const two = await invoice('40', one.customer_id);
  const day = newDay();
  const { id } = await upload([
    [day, '100.00', 'X', '', one.number],
    [day, '40.00', 'X', '', two.number],
    [day, '40.00', 'X', '', `${two.number} again`],
    [day, '-9.00', 'Shop', '', 'paper'],
  ]);
  expect(await bookExactMatches(base.db, id, writer)).toEqual({ booked: 2, left: 1 });
  expect([await dueOf(one.id), await dueOf(two.id)]).toEqual([0, 0]);
  expect(await ignoreOutgoing(base.db, id, writer)).toBe(1);
  expect(await countsOf(id)).toEqual({ all: 4, open: 1, outgoing: 0 });
  const booked = (await explainedOf(id)).find(({ amount }) => amount === 100);
  expect(booked).toMatchObject({ recorded: 100, customer: { id: one.customer_id } });
  await undoEntry(base.db, booked?.id ?? 0, writer);
  expect(await dueOf(one.id)).toBe(100);
  expect(await countsOf(id)).toMatchObject({ open: 2 });
});

test('ignoring the outgoing entries does not count an entry that a colleague ignores at the same moment', async () => {
  const day = newDay();
  const { id, entries } = await uploadOpen(
    [day, '-9.00', 'Shop', '', 'paper'],
    [day, '-8.00', 'Shop', '', 'ink'],
  );
  // The colleague's write comes after the entries are listed, and before they are ignored.
  const transaction: typeof base.db.transaction = async (work) => {
    await setEntryState(base.db, entries[0] ?? 0, 'ignored', writer);
    return base.db.transaction(work);
  };
  const db = new Proxy(base.db, {
    get: (from, name) => (name === 'transaction' ? transaction : Reflect.get(from, name, from)),
  });
  expect(await ignoreOutgoing(db, id, writer)).toBe(1);
  expect(await countsOf(id)).toMatchObject({ all: 2, outgoing: 0 });
});

test('an exact match behind hundreds of unexplained entries is booked', async () => {
  const due = await invoice('70');
  const [day, next] = [newDay(), newDay()];
  const others = Array.from({ length: 310 }, (_, at): Line => [day, `${at}.17`, 'Ada', '', 'cash']);
  const { id } = await upload([...others, [next, '70.00', 'X', '', due.number]]);
  expect(await bookExactMatches(base.db, id, writer)).toEqual({ booked: 1, left: 0 });
  expect(await dueOf(due.id)).toBe(0);
});

test('an exact match that cannot be booked is left, and the exact matches behind it are booked', async () => {
  const [stuck, next] = [await invoice('31'), await invoice('32')];
  const { customer_id: customerId } = await invoice('31');
  const day = newDay();
  const { id, entries } = await uploadOpen(
    [day, '31.00', 'X', '', stuck.number],
    [day, '32.00', 'X', '', next.number],
  );
  const [entry = 0] = entries;
  await bookEntry(base.db, entry, { customerId, shares: [], remember: false }, writer);
  // Undo the second write of the booking. The entry then has a transfer of another customer than the proposal.
  await base.db.update(bankEntries).set({ transfer_id: null }).where(eq(bankEntries.id, entry));
  expect(await bookExactMatches(base.db, id, writer)).toEqual({ booked: 1, left: 1 });
  expect([await dueOf(stuck.id), await dueOf(next.id)]).toEqual([31, 0]);
});

test('an invoice number with other text directly beside it is found in a bank entry, but not with more digits', async () => {
  const numbers = ['2031-000010', 'RE-2032-000077', 're-2034-000088'];
  for (const number of numbers) await createInvoice(base.db, { number });
  const textsOf = (number: string) => [`RE${number}`, `Rechnung${number}vom`, `RE9${number}`, `RE${number}9`];
  // The entries pay a part, so that their amounts suggest no invoice.
  const lines = numbers.flatMap(textsOf).map((text): Line => [newDay(), '7.00', 'Zoe', '', text]);
  const found = (await uploadOpen(...lines)).open.map(({ proposals }) => proposals[0]?.reasons[0]);
  expect(found).toEqual(
    numbers.flatMap((number) => {
      const reason = `The text names ${number}.`;
      return [reason, reason, undefined, undefined];
    }),
  );
});

test('a bank entry is not booked for an unknown number, by an outdated proposal or a second time, and a booked entry is not reopened', async () => {
  const { id: invoice_id, customer_id: customerId, number } = await invoice('30');
  const { entries, first } = await uploadOpen([newDay(), '30.00', 'X', '', number]);
  const [entry = 0] = entries;
  const unknown = bookNamedEntry(base.db, entry, { named: 'K99999999', remember: false }, writer);
  expect(await problemsOf(unknown)).toEqual(['named']);
  const book = (shares: { invoice_id: number; amount: number }[]) =>
    problemsOf(bookEntry(base.db, entry, { customerId, shares, remember: false }, writer));
  expect(await book([{ invoice_id, amount: 30_010 }])).toEqual(['conflict']);
  expect(await book(first.proposals[0]?.shares ?? [])).toEqual([]);
  expect(await book(first.proposals[0]?.shares ?? [])).toEqual(['conflict']);
  await expect(setEntryState(base.db, entry, 'open', writer)).rejects.toThrow(/booked.*Undo/);
});

test('a bank entry that a colleague ignores while it is booked is either ignored or booked', async () => {
  const due = await invoice('30');
  const { id, first } = await uploadOpen([newDay(), '30.00', 'X', '', due.number]);
  const shares = first.proposals[0]?.shares ?? [];
  const chosen = { customerId: due.customer_id, shares, remember: false };
  const booking = bookEntry(base.db, first.entry.id, chosen, writer);
  const ignoring = setEntryState(base.db, first.entry.id, 'ignored', writer);
  expect(await problemsAtOnce([booking, ignoring])).toEqual([[], ['conflict']]);
  const [{ state, transfer_id } = expect.fail()] = await explainedOf(id);
  expect([await dueOf(due.id), transfer_id === null]).toEqual(state === 'ignored' ? [30, true] : [0, false]);
});

test('a bank entry with the transfer of one customer is not booked for another customer', async () => {
  const [one, other] = [await invoice('31'), await invoice('31')];
  const iban = newIban();
  const { id, entries } = await uploadOpen([newDay(), '31.00', 'X', iban, 'thanks']);
  const [entry = 0] = entries;
  const bookFor = (customerId: number, ...shares: { invoice_id: number; amount: number }[]) =>
    problemsOf(bookEntry(base.db, entry, { customerId, shares, remember: true }, writer));
  expect(await bookFor(one.customer_id, { invoice_id: one.id, amount: 31_000 })).toEqual([]);
  // Undo the second write of the booking. A call at the same moment sees this state.
  await base.db.update(bankEntries).set({ transfer_id: null }).where(eq(bankEntries.id, entry));
  expect(await bookFor(other.customer_id, { invoice_id: other.id, amount: 31_000 })).toEqual(['conflict']);
  const rule = (await listRules(base.db)).find((row) => row.iban === iban);
  expect(rule?.customer.id).toBe(one.customer_id);
  expect(await bookFor(one.customer_id)).toEqual([]);
  expect(await explainedOf(id)).toMatchObject([{ customer: { id: one.customer_id }, recorded: 31 }]);
});

test.each([
  ['of Stripe', { stripe_invoice_id: 'in_bank_named' }, 'is an invoice of Stripe'],
  ['that is paid', { status: 'paid', amount_paid: '25', amount_due: '0' }, 'is an invoice that is paid'],
  ['in another currency', { currency: 'usd' }, 'is an invoice in USD'],
] as const)('a bank entry is not booked for a named invoice %s', async (_, values, reason) => {
  const sums = { total: '25', subtotal: '25', tax: '0' };
  const { number, customer_id } = await createInvoice(base.db, { ...sums, ...values });
  const other = await invoice('25', customer_id);
  const [entry = 0] = (await uploadOpen([newDay(), '25.00', 'X', '', 'thanks'])).entries;
  const booking = bookNamedEntry(base.db, entry, { named: number ?? '', remember: false }, writer);
  const problem = { field: 'named', message: expect.stringContaining(reason) };
  await expect(booking).rejects.toMatchObject({ fields: [problem] });
  expect(await dueOf(other.id)).toBe(25);
});

test('bank entries pay a customer’s own invoices behind 100 older invoices of Stripe', async () => {
  const { id: customer_id, customer_number } = await createCustomer(base.db);
  for (let n = 0; n < 100; n += 1)
    await createInvoice(base.db, { customer_id, stripe_invoice_id: `in_bank_older_${n}` });
  const [one, two] = [await invoice('35', customer_id), await invoice('36', customer_id)];
  const { entries, first } = await uploadOpen(
    [newDay(), '35.00', 'X', '', one.number],
    [newDay(), '36.00', 'X', '', 'thanks'],
  );
  const shares = first.proposals[0]?.shares ?? [];
  await bookEntry(base.db, first.entry.id, { customerId: customer_id, shares, remember: false }, writer);
  await bookNamedEntry(base.db, entries[1] ?? 0, { named: customer_number, remember: false }, writer);
  expect([await dueOf(one.id), await dueOf(two.id)]).toEqual([0, 0]);
});

test('a bank entry pays the invoice that it names, although the customer has 60 older invoices of the same amount', async () => {
  const { id: customer_id } = await createCustomer(base.db);
  for (let n = 0; n < 60; n += 1) await invoice('37', customer_id);
  const { id: invoice_id, number } = await invoice('37', customer_id);
  const { first } = await uploadOpen([newDay(), '37.00', 'X', '', number]);
  expect(first.proposals[0]).toMatchObject({ is_exact: true, shares: [{ invoice_id }] });
});

test('a proposal that pays 50 invoices of a customer and a newer one that the text names can be booked', async () => {
  const { id: customerId } = await createCustomer(base.db);
  for (let n = 0; n < 60; n += 1) await invoice('38', customerId);
  const named = await invoice('38', customerId);
  const { first } = await uploadOpen([newDay(), '1938.00', 'X', '', named.number]);
  const shares = first.proposals[0]?.shares ?? [];
  expect(shares).toHaveLength(51);
  await bookEntry(base.db, first.entry.id, { customerId, shares, remember: false }, writer);
  expect(await dueOf(named.id)).toBe(0);
});

test('a bank rule books an entry that names no invoice only if the customer owes exactly its amount, and a deleted rule books none', async () => {
  const { id: customerId, customer_number } = await createCustomer(base.db);
  await invoice('20', customerId);
  const iban = newIban();
  const { entries } = await uploadOpen([newDay(), '20.00', 'Somebody', iban, 'thanks']);
  await bookNamedEntry(base.db, entries[0] ?? 0, { named: customer_number, remember: true }, writer);
  const receive = async (amount: string) =>
    (await upload([[newDay(), amount, 'Somebody', iban, 'text']])).booked;
  await invoice('33', customerId);
  expect([await receive('32.99'), await receive('33.00')]).toEqual([0, 1]);
  const rule = (await listRules(base.db)).find((one) => one.iban === iban);
  await deleteRule(base.db, rule?.id ?? 0, writer);
  await invoice('44', customerId);
  expect(await receive('44.00')).toBe(0);
});

test('a bank rule does not book an entry whose text names a paid invoice in capitals or small letters, even if the customer owes exactly its amount', async () => {
  const paid = await invoice('119');
  const iban = newIban();
  const [entry = 0] = (await uploadOpen([newDay(), '119.00', 'X', iban, 'thanks'])).entries;
  await bookNamedEntry(base.db, entry, { named: paid.number, remember: true }, writer);
  const other = await invoice('119', paid.customer_id);
  const small = { number: 're-2033-01', customer_id: paid.customer_id };
  await createInvoice(base.db, { ...small, status: 'paid', amount_paid: '119', amount_due: '0' });
  expect(await upload([[newDay(), '119.00', 'X', iban, small.number]])).toMatchObject({ booked: 0 });
  const { id, booked } = await upload([[newDay(), '119.00', 'X', iban, `RE ${paid.number}`]]);
  expect([booked, await dueOf(other.id)]).toEqual([0, 119]);
  const [first] = (await openOf(id))[0]?.proposals ?? [];
  expect(first).toMatchObject({ shares: [{ invoice_id: other.id }], is_exact: false });
  expect(first?.reasons).toContain(`The text names ${paid.number}, an invoice that is paid.`);
});

test('undoing a booking is refused if credit of its transfer was paid back, or a payment was refunded', async () => {
  const due = await invoice('70');
  const { id } = await upload([[newDay(), '80.00', 'X', newIban(), `${due.number}`]]);
  const [entry = 0] = (await openOf(id)).map((one) => one.entry.id);
  const chosen = { customerId: due.customer_id, shares: [{ invoice_id: due.id, amount: 70_000 }] };
  await bookEntry(base.db, entry, { ...chosen, remember: false }, writer);
  const readTransfer = async () => getTransfer(base.db, (await explainedOf(id))[0]?.transfer_id ?? 0);
  const typed = { amount: '4', date: '2026-11-20' };
  await payBackCredit(base.db, await readTransfer(), typed, writer);
  await expect(undoEntry(base.db, entry, writer)).rejects.toThrow(/open the transfer/);
  await undoPayBack(base.db, await readTransfer(), 0, writer);
  const [share] = await readRows(base.db, payments, eq(payments.invoice_id, due.id));
  await recordTypedRefund(base.db, share?.id ?? 0, typed, writer);
  expect(await problemsOf(undoEntry(base.db, entry, writer))).toEqual(['conflict']);
  expect(await readTransfer()).toMatchObject({ amount: 80, credit: 10 });
});

test('a booking that is undone while a colleague refunds its payment is either undone or refunded', async () => {
  // The colleague begins after a different number of reads each time, so that the refund also comes after the check.
  for (let reads = 0; reads < 6; reads += 1) {
    const due = await invoice('70');
    const { id, first } = await uploadOpen([newDay(), '70.00', 'X', '', due.number]);
    await bookExactMatches(base.db, id, writer);
    const [share] = await readRows(base.db, payments, eq(payments.invoice_id, due.id));
    const refund = async () => {
      for (let read = 0; read < reads; read += 1) await dueOf(due.id);
      await recordTypedRefund(base.db, share?.id ?? 0, { amount: '70', date: '2026-11-20' }, writer);
    };
    const problems = await problemsAtOnce([undoEntry(base.db, first.entry.id, writer), refund()]);
    expect(problems).toEqual([[], [expect.any(String)]]);
  }
});

test('a returned transfer counts as refunded on the day of the return, and undoing the return pays its invoice again', async () => {
  const due = await invoice('70');
  const [first, second] = [newDay(), newDay()];
  const credit = await uploadOpen([first, '80.00', 'X', '', due.number]);
  const shares = credit.first.proposals[0]?.shares ?? [];
  const chosen = { customerId: due.customer_id, shares, remember: false };
  await bookEntry(base.db, credit.first.entry.id, chosen, writer);
  const back = await uploadMt940([OWN, 'EUR'], second, [100, 20], ['RC', 'NRTI', due.number]);
  const { entry } = (await openOf(back.id))[0] ?? expect.fail('the return is not open');
  const [proposed] = await proposeReturns(base.db, entry);
  expect(proposed).toMatchObject({
    ...{ kind: 'transfer', amount: 80, invoice_numbers: [due.number] },
    reasons: [`The text names ${due.number}.`, 'The amount is the same.'],
  });
  const transfer = { kind: 'transfer', id: proposed?.id ?? 0 } as const;
  await bookReturn(base.db, entry.id, transfer, writer);
  expect(await dueOf(due.id)).toBe(70);
  const paid_back = [{ amount: 10, date: second, isReturn: true }];
  const returned = await getTransfer(base.db, transfer.id);
  expect(returned).toMatchObject({ credit: 0, amount: 80, paid_back });
  expect(await problemsOf(undoPayBack(base.db, returned, 0, writer))).toEqual(['conflict']);
  const booked = await readRows(base.db, refunds, eq(refunds.reason, 'returned_by_bank'));
  expect(booked.map((one) => one.issued_at.toISOString().slice(0, 10))).toContain(second);
  expect(await problemsOf(bookReturn(base.db, entry.id, transfer, writer))).toEqual(['conflict']);
  const explained = { id: entry.id, returned_transfer_id: transfer.id };
  expect(await explainedOf(back.id)).toContainEqual(expect.objectContaining(explained));
  await undoEntry(base.db, entry.id, writer);
  expect(await dueOf(due.id)).toBe(0);
  expect(await getTransfer(base.db, transfer.id)).toMatchObject({ credit: 10, paid_back: [] });
  expect((await openOf(back.id)).map((one) => one.entry.id)).toContain(entry.id);
});

test('the return of a payment that staff recorded is recognized by its reference, even if the bank deducted a fee', async () => {
  const reference = 'HAND-2024-1';
  const { due, id: payment } = await paidByHand(reference);
  expect(await dueOf(due)).toBe(0);
  const { open } = await uploadOpen(
    [newDay(), '-48.00', 'Ada', '', `Retoure ${reference} AC04`],
    [newDay(), '-45.00', 'Ada', '', 'Retoure of something else'],
    [newDay(), '-45.00', 'Ada', '', `my own payment ${reference}`],
  );
  const found = open.map((one) => one.entry);
  const proposed = await Promise.all(found.map((entry) => proposeReturns(base.db, entry)));
  const reasons = [
    `The text names the reference ${reference}.`,
    'The bank took more, which may include its fee.',
  ];
  expect(proposed).toMatchObject([[{ id: payment, reasons }], [], []]);
  const entryId = found[0]?.id ?? 0;
  await bookReturn(base.db, entryId, { kind: 'payment', id: payment }, writer);
  expect([await dueOf(due), await statusOf(payment)]).toEqual([45, 'refunded']);
  await undoEntry(base.db, entryId, writer);
  expect(await dueOf(due)).toBe(0);
  expect(await getPayment(base.db, payment)).toMatchObject({ refunded_amount: 0 });
});

test('undoing an interrupted return keeps the refund that staff recorded for its payment', async () => {
  const { id: payment } = await paidByHand('LEFT-2024-1');
  const { id, entries } = await uploadOpen([newDay(), '-45.00', 'Ada', '', 'Retoure LEFT-2024-1 AC04']);
  const [entry = 0] = entries;
  const linked = { returned_payment_id: payment };
  await base.db.update(bankEntries).set(linked).where(eq(bankEntries.id, entry));
  await updatePayment(base.db, payment, { status: 'refunded' }, writer);
  await undoEntry(base.db, entry, writer);
  expect(await getPayment(base.db, payment)).toMatchObject({ status: 'refunded', refunded_amount: 45 });
  expect(await openOf(id)).toHaveLength(1);
});

test('a bank entry that two members of staff book as returns of different payments returns only one of them', async () => {
  const payments = [(await paidByHand('FIRST-2024-1')).id, (await paidByHand('OTHER-2024-2')).id];
  const text = 'Retoure FIRST-2024-1 OTHER-2024-2 AC04';
  const [entry = 0] = (await uploadOpen([newDay(), '-45.00', 'Ada', '', text])).entries;
  const writes = payments.map((id) => bookReturn(base.db, entry, { kind: 'payment', id }, writer));
  expect((await problemsAtOnce(writes)).map((problems) => problems.length)).toEqual([0, 1]);
  expect((await Promise.all(payments.map(statusOf))).sort()).toEqual(['completed', 'refunded']);
  await undoEntry(base.db, entry, writer);
  expect(await Promise.all(payments.map(statusOf))).toEqual(['completed', 'completed']);
});

test('only one of two bank entries can be booked as the return of the same payment', async () => {
  const { id: payment } = await paidByHand('TWICE-2024-3');
  const debit: Line = [newDay(), '-45.00', 'Ada', '', 'Retoure TWICE-2024-3 AC04'];
  const { id, entries } = await uploadOpen(debit, debit);
  const writes = entries.map((entry) => bookReturn(base.db, entry, { kind: 'payment', id: payment }, writer));
  expect(await problemsAtOnce(writes)).toEqual([[], ['conflict']]);
  expect(await openOf(id)).toHaveLength(1);
});

test('a debit is proposed neither as the return of a partly refunded payment nor as the payment of an invoice', async () => {
  const due = await invoice('45');
  const { id } = await upload([[newDay(), '45.00', 'X', '', due.number]]);
  await bookExactMatches(base.db, id, writer);
  const [share] = await readRows(base.db, payments, eq(payments.invoice_id, due.id));
  await recordTypedRefund(base.db, share?.id ?? 0, { amount: '1', date: '2026-11-20' }, writer);
  const { first } = await uploadOpen([newDay(), '-45.00', 'X', '', `Retoure ${due.number}`]);
  expect(await proposeReturns(base.db, first.entry)).toEqual([]);
  // An outgoing payment pays no invoice, even if its text names an unpaid invoice.
  expect(await dueOf(due.id)).toBe(1);
  expect(first.proposals).toEqual([]);
});

test('erasing a customer empties the name, account and text of its booked bank entries, and deletes its bank rules', async () => {
  const { number, customer_id } = await invoice('15');
  const iban = newIban();
  const [entry = 0] = (await uploadOpen([newDay(), '15.00', 'Ada Secret', iban, number])).entries;
  await bookNamedEntry(base.db, entry, { named: number, remember: true }, writer);
  await eraseCustomer(base.db, customer_id, { actor: writer.actor, now: NOW, timeZone: 'UTC' });
  const emptied = { name: '', iban: '', purpose: '' };
  expect(await readRow(base.db, bankEntries, entry)).toMatchObject(emptied);
  expect((await listRules(base.db)).filter((one) => one.iban === iban)).toEqual([]);
});

test.each([
  ['oldest', (lines: Line[]) => lines],
  ['latest', (lines: Line[]) => lines.reverse()],
])(
  'a bank entry of an erased customer is not stored again by a longer file with the %s entry first',
  async (_, sorted) => {
    const { number, customer_id } = await invoice('19');
    const [day, next] = [newDay(), newDay()];
    const erased: Line = [day, '19.00', 'Ada Secret', newIban(), number];
    const [entry = 0] = (await uploadOpen(erased)).entries;
    await bookNamedEntry(base.db, entry, { named: number, remember: false }, writer);
    await eraseCustomer(base.db, customer_id, { actor: writer.actor, now: NOW, timeZone: 'UTC' });
    const others: Line[] = [day, next].map((one) => [one, '19.00', 'Bob', newIban(), `of ${one}`]);
    const { open } = await uploadOpen(...sorted([erased, ...others]));
    expect(open.map((one) => one.entry.purpose).sort()).toEqual([`of ${day}`, `of ${next}`]);
  },
);

const BOOKINGS = ['accept', 'exact', 'return', 'undo', 'ignore', 'reopen'] as const;
const CHANGES = ['delete', 'refund', 'pay back', 'unpay'] as const;
const step = fc.record({
  kind: fc.constantFrom(...BOOKINGS, ...CHANGES),
  pick: fc.nat(1000),
  cents: fc.integer({ min: 1, max: 9000 }),
});

test('payments, credit and paid-back amounts add up to the booked bank entries after any sequence of changes', async () => {
  const sequences = fc.array(step, { minLength: 3, maxLength: 14 });
  await fc.assert(
    fc.asyncProperty(fc.boolean(), sequences, async (isBooked, steps) => {
      const { id: customerId } = await createCustomer(base.db);
      const due = [await invoice('50', customerId), await invoice('20.5', customerId)];
      const day = newDay();
      const lineOf = (amount: string, text: string): Line => [day, amount, 'X', '', text];
      const { id } = await upload([
        ...['50.00', '20.50', '70.50', '33.00'].map((sum, at) => lineOf(sum, `${due[at % 2]?.number} ${at}`)),
        ...['-50.00', '-20.50', '-70.50'].map((sum, at) => lineOf(sum, `Retoure ${due[at % 2]?.number}`)),
      ]);
      // Without bookings at the beginning, few sequences return or refund anything.
      if (isBooked) await bookExactMatches(base.db, id, writer);
      for (const one of steps) await play(id, customerId, one);
      await checkReceived(id, customerId);
    }),
    { numRuns: 30, endOnFailure: true },
  );
}, 300_000);

const entriesOf = (statement: number) =>
  readRows(base.db, bankEntries, eq(bankEntries.statement_id, statement));
const paymentsOf = (customerId: number) => readRows(base.db, payments, eq(payments.customer_id, customerId));

/** Performs a step. The product may refuse it. The sums must be right in both cases. */
async function play(
  statement: number,
  customerId: number,
  { kind, pick, cents }: typeof step extends fc.Arbitrary<infer T> ? T : never,
) {
  const { db } = base;
  const choose = <Row>(all: Row[]) => all[pick % Math.max(1, all.length)];
  const all = await entriesOf(statement);
  const entry = choose(all)?.id ?? 0;
  const transfer = choose(await readRows(db, transfers, eq(transfers.customer_id, customerId)));
  const share = choose(await paymentsOf(customerId));
  const typed = { amount: (cents / 100).toFixed(2), date: '2026-11-20' };
  const steps: Record<typeof kind, () => unknown> = {
    accept: async () => {
      const open = (await openOf(statement)).find((one) => one.entry.id === entry);
      const [first] = open?.proposals ?? [];
      if (first) await bookEntry(db, entry, { customerId, shares: first.shares, remember: false }, writer);
    },
    exact: () => bookExactMatches(db, statement, writer),
    undo: () => undoEntry(db, entry, writer),
    delete: () => transfer && deleteTransfer(db, transfer, writer),
    refund: () => share && recordTypedRefund(db, share.id, typed, writer),
    'pay back': () => transfer && payBackCredit(db, transfer, typed, writer),
    unpay: () => share && deletePayment(db, share.id, writer),
    ignore: () => setEntryState(db, entry, 'ignored', writer),
    return: async () => {
      const debit = choose(all.filter((row) => row.is_return)) ?? expect.fail();
      const [one] = await proposeReturns(db, { ...debit, amount: Number(debit.amount) });
      if (one) await bookReturn(db, debit.id, one, writer);
    },
    reopen: () => setEntryState(db, entry, 'open', writer),
  };
  await problemsOf(Promise.resolve(steps[kind]()));
}

async function checkReceived(statement: number, customerId: number) {
  const entries = await entriesOf(statement);
  const paid = await paymentsOf(customerId);
  const sums = { booked: 0, received: 0 };
  for (const { amount } of paid) sums.received += toThousandths(amount);
  for (const { transfer_id, amount } of entries) {
    if (transfer_id === null) continue;
    const transfer = await getTransfer(base.db, transfer_id);
    expect(transfer.amount).toBe(Number(amount));
    sums.booked += toThousandths(amount);
    for (const part of [transfer.credit, ...transfer.paid_back.map((one) => one.amount)])
      sums.received += Math.round(part * 1000);
  }
  expect(sums.received).toBe(sums.booked);
  // A transfer that the bank took back has no credit and no completed payment.
  for (const { returned_transfer_id } of entries) {
    if (returned_transfer_id === null) continue;
    const { reference, credit } = await getTransfer(base.db, returned_transfer_id);
    const left = paid.filter((one) => one.transfer === reference && one.status === 'completed');
    expect([credit, left]).toEqual([0, []]);
  }
}
