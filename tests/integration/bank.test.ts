import { eq } from 'drizzle-orm';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  bankEntries,
  company,
  customers,
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
import {
  countEntries,
  entryList,
  getStatement,
  listExplained,
  listOpenEntries,
  listRules,
  proposeFor,
  statementList,
} from '@/lib/bank/queries';
import { bookReturn, proposeReturns } from '@/lib/bank/returns';
import { uploadStatement } from '@/lib/bank/upload';
import { eraseCustomer } from '@/lib/erasure/erase-customer';
import { AppError } from '@/lib/errors';
import { toThousandths } from '@/lib/money';
import { getPayment, getTransfer } from '@/lib/payments/queries';
import type { PaymentWriter } from '@/lib/payments/schema';
import { deleteTransfer, payBackCredit, recordTypedRefund } from '@/lib/payments/typed-payment';
import { deletePayment, recordPayment, updatePayment } from '@/lib/payments/write-payment';
import { comparePayouts } from '@/lib/sync/reconcile/payouts';
import type { Run } from '@/lib/sync/reconcile/run';
import type { SyncDeps } from '@/lib/sync/sync-deps';
import { useDatabase } from '../support/database';
import { createCustomer, createInvoice } from '../support/factories';

const base = useDatabase();
const OWN = 'DE02120300000000202051';
const NOW = new Date('2026-11-20T12:00:00Z');
const writer: PaymentWriter = { actor: commandActor('test'), source: 'staff', now: NOW, timeZone: 'UTC' };

beforeAll(async () => {
  const set = { name: 'Our company', iban: OWN, small_business: false };
  await base.db.insert(company).values(set).onConflictDoUpdate({ target: company.id, set });
});

/** An entry of a file: day, amount, name, account and text. */
type Line = [day: string, amount: string, name: string, iban: string, text: string];

const HEADER =
  '"Booking Date","Value Date","Partner Name","Partner Iban","Type","Payment Reference","Amount (EUR)"';
const upload = (lines: Line[], name = 'n26.csv', account?: string) => {
  const rows = lines.map(([day, amount, from, iban, text]) => [day, day, from, iban, 'T', text, amount]);
  const csv = [HEADER, ...rows.map((cells) => cells.map((cell) => `"${cell}"`).join(','))].join('\n');
  return uploadStatement(base.db, { name, account, bytes: Buffer.from(csv) }, writer);
};

let drawn = 0;
/** Returns a day that no other test uses. Otherwise an equal entry of another test would count as already known. */
function newDay(): string {
  drawn += 1;
  return new Date(Date.UTC(2024, 0, drawn)).toISOString().slice(0, 10);
}

const invoice = async (customer_id: number, total: string) => {
  const made = await createInvoice(base.db, { customer_id, total, subtotal: total, tax: '0' });
  const [row] = await base.db.select().from(invoices).where(eq(invoices.id, made.id));
  return { id: made.id, number: row?.number ?? '' };
};
const dueOf = async (id: number) => {
  const [row] = await base.db.select().from(invoices).where(eq(invoices.id, id));
  return Number(row?.amount_due);
};
const openOf = async (statement: number) =>
  proposeFor(base.db, await listOpenEntries(base.db, await getStatement(base.db, statement), 100));
const newIban = () => `DE${String(10 ** 19 + drawn * 7 + Math.trunc(drawn / 3)).padStart(20, '0')}`;

describe('payouts of Stripe on a bank statement', () => {
  const payout = async (stripe_payout_id: string, arrival_date: string, amount: string) => {
    const state = { status: 'paid', is_automatic: false, is_listed: false, issued_at: NOW };
    const [row] = await base.db
      .insert(stripePayouts)
      .values({ stripe_payout_id, arrival_date, amount, ...state })
      .returning();
    return row?.id ?? 0;
  };

  test('a bank credit from Stripe is proposed as a payout, and accepting it pays no invoice', async () => {
    const { id: customerId } = await createCustomer(base.db);
    const other = await invoice(customerId, '214.92');
    const day = newDay();
    const id = await payout('po_bank_1', day, '214.92');
    const statement = await upload([
      [day, '214.92', 'STRIPE PAYMENTS EUROPE', 'IE29AIBK93115212345678', `STRIPE ${other.number}`],
      [day, '214.92', 'Ada', '', 'my payment'],
    ]);
    const [credit, plain] = await openOf(statement.id);
    expect([credit?.payout?.stripe_payout_id, credit?.proposals]).toEqual(['po_bank_1', []]);
    expect(plain?.payout).toBeNull();
    const entry = credit?.entry.id ?? 0;
    await explainAsPayout(base.db, entry, id, writer);
    const explained = await listExplained(base.db, await getStatement(base.db, statement.id), {
      page: 1,
      per_page: 10,
    });
    expect(explained.data).toMatchObject([{ id: entry, transfer_id: null, payout: { id } }]);
    expect(await dueOf(other.id)).toBe(214.92);
    expect(await countEntries(base.db, await getStatement(base.db, statement.id))).toMatchObject({
      all: 2,
      open: 1,
    });
    await expect(explainAsPayout(base.db, entry, id, writer)).rejects.toMatchObject({ code: 'conflict' });
    await undoEntry(base.db, entry, writer);
    expect((await openOf(statement.id))[0]?.payout?.id).toBe(id);
  });

  test('two payouts with the same amount match two bank entries, and a debit by Stripe matches a negative payout', async () => {
    const [day, next] = [newDay(), newDay()];
    await payout('po_bank_2', day, '50');
    await payout('po_bank_3', next, '50');
    await payout('po_bank_4', next, '-7.5');
    const { id } = await upload([
      [next, '50.00', 'Stripe', '', 'payout'],
      [next, '50.00', 'Stripe', '', 'payout'],
      [next, '50.00', 'Stripe', '', 'payout'],
      [next, '-7.50', 'Stripe', '', 'payout'],
    ]);
    const found = (await openOf(id)).map((one) => one.payout?.stripe_payout_id);
    expect(found.sort()).toEqual(['po_bank_2', 'po_bank_3', 'po_bank_4', undefined]);
  });

  test('only one of two bank entries accepted at the same time is linked to the payout', async () => {
    const day = newDay();
    const payoutId = await payout('po_bank_6', day, '64.10');
    const { id } = await upload([
      [day, '64.10', 'Stripe', '', 'payout'],
      [day, '64.10', 'Stripe', '', 'the same again'],
    ]);
    const entries = (await openOf(id)).map(({ entry }) => entry.id);
    const all = await Promise.allSettled(
      entries.map((entry) => explainAsPayout(base.db, entry, payoutId, writer)),
    );
    expect(all.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const refused = all.find((one) => one.status === 'rejected');
    expect(refused?.reason).toMatchObject({ code: 'conflict' });
  });

  test('a payout that is missing from a bank statement has a task until its bank entry is uploaded', async () => {
    const [before, day] = [newDay(), newDay()];
    const days = [newDay(), newDay(), newDay(), newDay()];
    const id = await payout('po_bank_5', day, '81.25');
    const last: Line = [days[3] ?? '', '1.00', 'Ada', '', 'x'];
    const deps = { db: base.db, now: () => new Date(`${days[3]}T12:00:00Z`), timeZone: 'UTC' } as SyncDeps;
    const compare = () => comparePayouts(deps, { id: 0 } as Run, String(id - 1));
    const isOpen = async () =>
      (await base.db.select().from(staffTasks).where(eq(staffTasks.subject, 'po_bank_5 not_in_bank'))).map(
        ({ done_at }) => done_at === null,
      );
    await compare();
    expect(await isOpen()).toEqual([]);
    await upload([[before, '2.00', 'Ada', '', 'y'], last]);
    await compare();
    expect(await isOpen()).toEqual([true]);
    await upload([[day, '81.25', 'Stripe', '', 'po']]);
    await compare();
    expect(await isOpen()).toEqual([false]);
  });
});

describe('bank statements', () => {
  test('uploading a bank file again or for an overlapping period adds no duplicates, and keeps identical payments of one day', async () => {
    const [first, second] = [newDay(), newDay()];
    const twice: Line = [first, '10.00', 'Ada', '', 'same'];
    const { id } = await upload([twice, twice]);
    expect(await upload([twice, twice])).toMatchObject({ id, isKnown: true });
    const overlap = await upload([
      [second, '5.00', 'Ada', '', 'new'],
      [first, '10.00', 'A', '', 'other text'],
      twice,
    ]);
    expect(await countEntries(base.db, await getStatement(base.db, overlap.id))).toMatchObject({ all: 3 });
    const third = await upload([twice, twice, [first, '10.00', 'Eve', '', 'third']]);
    const entries = await listOpenEntries(base.db, await getStatement(base.db, third.id), 10);
    expect(entries.map(({ purpose }) => purpose)).toEqual(['same', 'same', 'third']);
  });

  test('a bank statement of an account that is not the company’s is refused, and the error names the account', async () => {
    const mt940 = ':20:X\n:25:DE25500105170137075030\n:60F:C260930EUR1,00\n:62F:C261002EUR1,00\n-';
    const refused = uploadStatement(base.db, { name: 'a.sta', bytes: Buffer.from(mt940) }, writer);
    await expect(refused).rejects.toMatchObject({
      fields: [{ field: 'file', message: expect.stringContaining('DE25500105170137075030') }],
    });
  });

  describe('with two own accounts', () => {
    const SECOND = 'AT611904300234573201';
    const setOther = (other_ibans: string | null) =>
      base.db.update(company).set({ other_ibans }).where(eq(company.id, 1));
    beforeAll(() => setOther(SECOND));
    afterAll(() => setOther(null));
    /** Uploads an MT940 statement with one credit, the difference between its opening and closing balances. */
    const mt940 = (iban: string, currency: string, day: string, [opening, closing]: [number, number]) => {
      const short = day.slice(2).replaceAll('-', '');
      const text = `:20:X\n:25:${iban}\n:60F:C${short}${currency}${opening},00
:61:${short}C${closing - opening},00NTRFNONREF\n:86:from Ada\n:62F:C${short}${currency}${closing},00\n-`;
      return uploadStatement(base.db, { name: 'x.sta', bytes: Buffer.from(text) }, writer);
    };

    test('a bank statement is compared only with earlier statements of the same account and currency', async () => {
      const [one, two] = [newDay(), newDay()];
      const of = [
        await mt940(OWN, 'EUR', one, [100, 110]),
        await mt940(SECOND, 'EUR', one, [500, 510]),
        await mt940(SECOND, 'USD', one, [7, 17]),
      ];
      expect(of.map(({ isKnown }) => isKnown)).toEqual([false, false, false]);
      const later = await mt940(SECOND, 'EUR', two, [510, 520]);
      const statement = await getStatement(base.db, later.id);
      expect(statement.before).toMatchObject({ id: of[1]?.id, account: SECOND, closing: 510 });
      for (const { id } of [...of, later]) {
        expect(await countEntries(base.db, await getStatement(base.db, id))).toMatchObject({ all: 1 });
      }
      expect((await openOf(later.id)).map(({ entry }) => [entry.account, entry.currency])).toEqual([
        [SECOND, 'eur'],
      ]);
      expect((await getStatement(base.db, of[2]?.id ?? 0)).before).toBeNull();
      const listed = await statementList.page(base.db, { account: 'AT61', sort: '-date' });
      expect(listed.data.map((row) => [row.id, row.currency, row.open_entries])).toEqual([
        [later.id, 'eur', 1],
        [of[2]?.id, 'usd', 1],
        [of[1]?.id, 'eur', 1],
      ]);
    });

    test('a bank file that names no account is refused unless an account of the company is chosen', async () => {
      const lines: Line[] = [[newDay(), '1.00', 'X', '', 'x']];
      await expect(upload(lines)).rejects.toMatchObject({
        fields: [{ field: 'file', message: 'does not name its account: choose the account above' }],
      });
      const { id } = await upload(lines, 'n26.csv', SECOND);
      expect(await getStatement(base.db, id)).toMatchObject({ account: SECOND });
      await expect(upload(lines, 'n26.csv', 'DE25500105170137075030')).rejects.toMatchObject({
        fields: [{ message: expect.stringContaining('which is not an account of the company') }],
      });
    });
  });

  test('the CSV file of a bank statement contains the entries of all its days, and whether each is booked', async () => {
    const { id: customerId } = await createCustomer(base.db);
    const due = await invoice(customerId, '90');
    const [first, second] = [newDay(), newDay()];
    const { id } = await upload([
      [first, '90.00', '=Ada', newIban(), due.number],
      [second, '-9.00', 'Shop', '', 'paper'],
    ]);
    await bookExactMatches(base.db, id, writer);
    const { account, currency, first_day: from, last_day: to } = await getStatement(base.db, id);
    let csv = '';
    for await (const piece of entryList.csv(base.db, { account, currency, from, to })) csv += piece;
    const [header, ...rows] = csv.trim().split(/\r?\n/);
    expect(header).toContain('"id","account","currency","day","amount","name"');
    expect(rows).toHaveLength(2);
    expect(rows[0]).toMatch(new RegExp(`"${first}","90",.*"booked"`));
    expect(rows[1]).toMatch(new RegExp(`"${second}","-9",.*"open"`));
  });

  test('a bank statement of 5 MB is read, and uploading its entries in another order adds none', async () => {
    const days = Array.from({ length: 100 }, () => newDay());
    const lines = days.flatMap((day) =>
      Array.from({ length: 20 }, (_, at): Line => [day, `${at}.01`, 'Ada', '', `x ${at} `.repeat(500)]),
    );
    const { id } = await upload(lines);
    expect(await countEntries(base.db, await getStatement(base.db, id))).toMatchObject({ all: 2000 });
    const again = await upload([...lines].reverse());
    expect(again.isKnown).toBe(false);
    expect(await countEntries(base.db, await getStatement(base.db, again.id))).toMatchObject({ all: 2000 });
  }, 60_000);

  test('booking all exact matches books one credit per invoice, and undoing a booking reopens its entry', async () => {
    const { id: customerId } = await createCustomer(base.db);
    const [one, two] = [await invoice(customerId, '100'), await invoice(customerId, '40')];
    const day = newDay();
    const { id } = await upload([
      [day, '100.00', 'X', '', one.number],
      [day, '40.00', 'X', '', two.number],
      [day, '40.00', 'X', '', `${two.number} again`],
      [day, '-9.00', 'Shop', '', 'paper'],
    ]);
    expect(await bookExactMatches(base.db, id, writer)).toBe(2);
    expect([await dueOf(one.id), await dueOf(two.id)]).toEqual([0, 0]);
    expect(await ignoreOutgoing(base.db, id, writer)).toBe(1);
    const statement = await getStatement(base.db, id);
    expect(await countEntries(base.db, statement)).toEqual({ all: 4, open: 1, outgoing: 0 });
    const { data } = await listExplained(base.db, statement, { page: 1, per_page: 10 });
    const booked = data.find(({ amount }) => amount === 100);
    expect(booked).toMatchObject({ recorded: 100, customer: { id: customerId } });
    await undoEntry(base.db, booked?.id ?? 0, writer);
    expect(await dueOf(one.id)).toBe(100);
    expect(await countEntries(base.db, statement)).toMatchObject({ open: 2 });
  });

  test('an exact match behind hundreds of unexplained entries is booked', async () => {
    const { id: customerId } = await createCustomer(base.db);
    const due = await invoice(customerId, '70');
    const [day, next] = [newDay(), newDay()];
    const others = Array.from({ length: 310 }, (_, at): Line => [day, `${at}.17`, 'Ada', '', 'cash']);
    const { id } = await upload([...others, [next, '70.00', 'X', '', due.number]]);
    expect(await bookExactMatches(base.db, id, writer)).toBe(1);
    expect(await dueOf(due.id)).toBe(0);
  });

  test('a booked bank entry is not booked again, and an outdated proposal books nothing', async () => {
    const { id: customerId } = await createCustomer(base.db);
    const due = await invoice(customerId, '30');
    const { id } = await upload([[newDay(), '30.00', 'X', '', due.number]]);
    const [open] = await openOf(id);
    const [proposal] = open?.proposals ?? [];
    const chosen = { customerId, shares: proposal?.shares ?? [], remember: false };
    const tooMuch = { ...chosen, shares: [{ invoice_id: due.id, amount: 30_010 }] };
    await expect(bookEntry(base.db, open?.entry.id ?? 0, tooMuch, writer)).rejects.toMatchObject({
      code: 'conflict',
    });
    await bookEntry(base.db, open?.entry.id ?? 0, chosen, writer);
    await expect(bookEntry(base.db, open?.entry.id ?? 0, chosen, writer)).rejects.toMatchObject({
      code: 'conflict',
    });
  });

  test('a rule for a bank account books an entry only if its amount equals the open amount exactly', async () => {
    const { id: customerId } = await createCustomer(base.db);
    await invoice(customerId, '20');
    const iban = newIban();
    const { id } = await upload([[newDay(), '20.00', 'Somebody', iban, 'thanks']]);
    const [open] = await openOf(id);
    const [customer] = await base.db.select().from(customers).where(eq(customers.id, customerId));
    await bookNamedEntry(
      base.db,
      open?.entry.id ?? 0,
      { named: customer?.customer_number ?? '', remember: true },
      writer,
    );
    await invoice(customerId, '33');
    expect(await upload([[newDay(), '32.99', 'Somebody', iban, 'less']])).toMatchObject({ booked: 0 });
    expect(await upload([[newDay(), '33.00', 'Somebody', iban, 'all']])).toMatchObject({ booked: 1 });
    const rule = (await listRules(base.db)).find((one) => one.iban === iban);
    await deleteRule(base.db, rule?.id ?? 0, writer);
    await invoice(customerId, '44');
    expect(await upload([[newDay(), '44.00', 'Somebody', iban, 'all']])).toMatchObject({ booked: 0 });
  });

  test('booking a bank entry for an unknown number is refused, and the error names the field', async () => {
    const { id } = await upload([[newDay(), '1.00', 'X', '', 'x']]);
    const [open] = await openOf(id);
    const named = bookNamedEntry(
      base.db,
      open?.entry.id ?? 0,
      { named: 'K99999999', remember: false },
      writer,
    );
    await expect(named).rejects.toMatchObject({ fields: [{ field: 'named' }] });
  });

  test('a returned transfer counts as refunded on the day of the return, and undoing the return pays its invoice again', async () => {
    const { id: customerId } = await createCustomer(base.db);
    const due = await invoice(customerId, '70');
    const [first, second] = [newDay(), newDay()];
    const { id } = await upload([[first, '80.00', 'X', '', due.number]]);
    const [credit] = await openOf(id);
    const chosen = { customerId, shares: credit?.proposals[0]?.shares ?? [], remember: false };
    await bookEntry(base.db, credit?.entry.id ?? 0, chosen, writer);
    const mt940 = `:20:X\n:25:${OWN}\n:60F:C${first.slice(2).replaceAll('-', '')}EUR100,00
:61:${second.slice(2).replaceAll('-', '')}RC80,00NRTINONREF\n:86:${due.number}
:62F:C${second.slice(2).replaceAll('-', '')}EUR20,00\n-`;
    const back = await uploadStatement(base.db, { name: 'b.sta', bytes: Buffer.from(mt940) }, writer);
    const [debit] = await openOf(back.id);
    const entry = debit?.entry ?? expect.fail('the return is not open');
    const [proposed] = await proposeReturns(base.db, entry);
    expect(proposed).toMatchObject({ kind: 'transfer', amount: 80, invoice_numbers: [due.number] });
    expect(proposed?.reasons).toEqual([`The text names ${due.number}.`, 'The amount is the same.']);
    const transfer = { kind: 'transfer', id: proposed?.id ?? 0 } as const;
    await bookReturn(base.db, entry.id, transfer, writer);
    expect(await dueOf(due.id)).toBe(70);
    expect(await getTransfer(base.db, transfer.id)).toMatchObject({
      ...{ credit: 0, amount: 80 },
      paid_back: [{ amount: 10, date: second }],
    });
    const booked = await base.db.select().from(refunds).where(eq(refunds.reason, 'returned_by_bank'));
    expect(booked.map((one) => one.issued_at.toISOString().slice(0, 10))).toContain(second);
    await expect(bookReturn(base.db, entry.id, transfer, writer)).rejects.toMatchObject({ code: 'conflict' });
    const explained = await listExplained(base.db, await getStatement(base.db, back.id), {
      page: 1,
      per_page: 9,
    });
    expect(explained.data.find((one) => one.id === entry.id)?.returned_transfer_id).toBe(transfer.id);
    await undoEntry(base.db, entry.id, writer);
    expect(await dueOf(due.id)).toBe(0);
    expect(await getTransfer(base.db, transfer.id)).toMatchObject({ credit: 10, paid_back: [] });
    expect((await openOf(back.id)).map((one) => one.entry.id)).toContain(entry.id);
  });

  test('the return of a payment that staff recorded is recognized by its reference, even if the bank deducted a fee', async () => {
    const { id: customer_id } = await createCustomer(base.db);
    const due = await invoice(customer_id, '45');
    const day = newDay();
    const paid = { amount: 45, payment_date: day, invoice_id: due.id, customer_id };
    const reference = `HAND-${due.id}-2024`;
    const recorded = await recordPayment(base.db, { ...paid, payment_reference: reference }, writer);
    expect(await dueOf(due.id)).toBe(0);
    const { id } = await upload([
      [newDay(), '-48.00', 'Ada', '', `Retoure ${reference} AC04`],
      [newDay(), '-45.00', 'Ada', '', 'Retoure of something else'],
      [newDay(), '-45.00', 'Ada', '', `my own payment ${reference}`],
    ]);
    const found = (await openOf(id)).map((one) => one.entry);
    const proposed = await Promise.all(found.map((entry) => proposeReturns(base.db, entry)));
    expect(proposed.map((all) => all.map((one) => one.id))).toEqual([[recorded.payment.id], [], []]);
    expect(proposed[0]?.[0]?.reasons).toEqual([
      `The text names the reference ${reference}.`,
      'The bank took more, which may include its fee.',
    ]);
    const entryId = found[0]?.id ?? 0;
    await bookReturn(base.db, entryId, { kind: 'payment', id: recorded.payment.id }, writer);
    expect(await dueOf(due.id)).toBe(45);
    expect(await getPayment(base.db, recorded.payment.id)).toMatchObject({ status: 'refunded' });
    await undoEntry(base.db, entryId, writer);
    expect(await dueOf(due.id)).toBe(0);
    expect(await getPayment(base.db, recorded.payment.id)).toMatchObject({ refunded_amount: 0 });
  });

  test('undoing a return whose process ended before the refund keeps a refund that staff recorded', async () => {
    const { id: customer_id } = await createCustomer(base.db);
    const due = await invoice(customer_id, '45');
    const day = newDay();
    const paid = { amount: 45, payment_date: day, invoice_id: due.id, customer_id };
    const { payment } = await recordPayment(base.db, { ...paid, payment_reference: 'LEFT-2024-1' }, writer);
    const { id } = await upload([[newDay(), '-45.00', 'Ada', '', 'Retoure LEFT-2024-1 AC04']]);
    const entryId = (await openOf(id))[0]?.entry.id ?? 0;
    await base.db
      .update(bankEntries)
      .set({ returned_payment_id: payment.id })
      .where(eq(bankEntries.id, entryId));
    await updatePayment(base.db, payment.id, { status: 'refunded' }, writer);
    await undoEntry(base.db, entryId, writer);
    expect(await getPayment(base.db, payment.id)).toMatchObject({ status: 'refunded', refunded_amount: 45 });
    expect(await openOf(id)).toHaveLength(1);
  });

  test('a bank entry that two members of staff book as returns of different payments returns only one of them', async () => {
    const { id: customer_id } = await createCustomer(base.db);
    const day = newDay();
    const references = ['FIRST-2024-1', 'OTHER-2024-2'];
    const paid = references.map(async (payment_reference) => {
      const due = await invoice(customer_id, '45');
      const payment = { amount: 45, payment_date: day, invoice_id: due.id, customer_id, payment_reference };
      return (await recordPayment(base.db, payment, writer)).payment.id;
    });
    const ids = await Promise.all(paid);
    const { id } = await upload([[newDay(), '-45.00', 'Ada', '', `Retoure ${references.join(' ')} AC04`]]);
    const [debit] = await openOf(id);
    const entryId = debit?.entry.id ?? 0;
    const results = await Promise.allSettled(
      ids.map((one) => bookReturn(base.db, entryId, { kind: 'payment', id: one }, writer)),
    );
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const statuses = await Promise.all(ids.map(async (one) => (await getPayment(base.db, one)).status));
    expect(statuses.sort()).toEqual(['completed', 'refunded']);
    await undoEntry(base.db, entryId, writer);
    const undone = await Promise.all(ids.map(async (one) => (await getPayment(base.db, one)).status));
    expect(undone).toEqual(['completed', 'completed']);
  });

  test('only one of two bank entries can be booked as the return of the same payment', async () => {
    const { id: customer_id } = await createCustomer(base.db);
    const due = await invoice(customer_id, '45');
    const payment = { amount: 45, payment_date: newDay(), invoice_id: due.id, customer_id };
    const reference = { payment_reference: 'TWICE-2024-3' };
    const { id } = (await recordPayment(base.db, { ...payment, ...reference }, writer)).payment;
    const text = `Retoure ${reference.payment_reference} AC04`;
    const day = newDay();
    const statement = await upload([
      [day, '-45.00', 'Ada', '', text],
      [day, '-45.00', 'Ada', '', text],
    ]);
    const debits = await openOf(statement.id);
    const results = await Promise.allSettled(
      debits.map(({ entry }) => bookReturn(base.db, entry.id, { kind: 'payment', id }, writer)),
    );
    expect(results.map((one) => (one.status === 'rejected' ? one.reason.code : 'returned')).sort()).toEqual([
      'conflict',
      'returned',
    ]);
    expect(await openOf(statement.id)).toHaveLength(1);
  });

  test('a payment that was partly refunded is not proposed as returned', async () => {
    const { id: customer_id } = await createCustomer(base.db);
    const due = await invoice(customer_id, '45');
    const { id } = await upload([[newDay(), '45.00', 'X', '', due.number]]);
    await bookExactMatches(base.db, id, writer);
    const [share] = await base.db.select().from(payments).where(eq(payments.invoice_id, due.id));
    await recordTypedRefund(base.db, share?.id ?? 0, { amount: '1', date: '2026-11-20' }, writer);
    const back = await upload([[newDay(), '-45.00', 'X', '', `Retoure ${due.number}`]]);
    const [open] = await openOf(back.id);
    expect(open && (await proposeReturns(base.db, open.entry))).toEqual([]);
    // An outgoing payment pays no invoice, even if its text names an unpaid invoice.
    expect(await dueOf(due.id)).toBe(1);
    expect(open?.proposals).toEqual([]);
  });

  test('erasing a customer empties the name, account and text of booked bank entries, and deletes the customer’s rules', async () => {
    const { id: customerId } = await createCustomer(base.db);
    const due = await invoice(customerId, '15');
    const iban = newIban();
    const { id } = await upload([[newDay(), '15.00', 'Ada Secret', iban, due.number]]);
    const [open] = await openOf(id);
    const entryId = open?.entry.id ?? 0;
    await bookNamedEntry(base.db, entryId, { named: due.number, remember: true }, writer);
    await eraseCustomer(base.db, customerId, { actor: writer.actor, now: NOW, timeZone: 'UTC' });
    const [entry] = await base.db.select().from(bankEntries).where(eq(bankEntries.id, entryId));
    expect([entry?.name, entry?.iban, entry?.purpose]).toEqual(['', '', '']);
    expect((await listRules(base.db)).filter((one) => one.iban === iban)).toEqual([]);
  });
});

const step = fc.record({
  kind: fc.constantFrom(
    'accept',
    'exact',
    'undo',
    'delete',
    'refund',
    'pay_back',
    'unpay',
    'ignore',
    'reopen',
    'return',
  ),
  pick: fc.nat(1000),
  cents: fc.integer({ min: 1, max: 9000 }),
});

test('payments, credit and paid-back amounts add up to the booked bank entries after any sequence of changes', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.boolean(),
      fc.array(step, { minLength: 3, maxLength: 14 }),
      async (isBooked, steps) => {
        const { id: customerId } = await createCustomer(base.db);
        const due = [await invoice(customerId, '50'), await invoice(customerId, '20.5')];
        const day = newDay();
        const { id } = await upload(
          ['50.00', '20.50', '70.50', '33.00']
            .map((amount, at): Line => [day, amount, 'X', '', `${due[at % 2]?.number} ${at}`])
            .concat(
              ['-50.00', '-20.50', '-70.50'].map(
                (amount, at): Line => [day, amount, 'X', '', `Retoure ${due[at % 2]?.number}`],
              ),
            ),
        );
        // Without bookings at the beginning, few sequences return or refund anything.
        if (isBooked) await bookExactMatches(base.db, id, writer);
        for (const one of steps) await play(id, customerId, one);
        await checkReceived(id, customerId);
      },
    ),
    { numRuns: 30 },
  );
}, 300_000);

/** Performs a step. The product may refuse it. The sums must be right in both cases. */
async function play(
  statement: number,
  customerId: number,
  { kind, pick, cents }: typeof step extends fc.Arbitrary<infer T> ? T : never,
) {
  const { db } = base;
  const all = await db
    .select()
    .from(bankEntries)
    .where(eq(bankEntries.statement_id, statement))
    .orderBy(bankEntries.id);
  const entry = all[pick % all.length];
  const known = await db
    .select()
    .from(transfers)
    .where(eq(transfers.customer_id, customerId))
    .orderBy(transfers.id);
  const transfer = known[pick % Math.max(1, known.length)];
  const paid = await db
    .select()
    .from(payments)
    .where(eq(payments.customer_id, customerId))
    .orderBy(payments.id);
  const share = paid[pick % Math.max(1, paid.length)];
  const typed = { amount: (cents / 100).toFixed(2), date: '2026-11-20' };
  const steps: Record<typeof kind, () => unknown> = {
    accept: async () => {
      const [open] = (await openOf(statement)).filter((one) => one.entry.id === entry?.id);
      const [first] = open?.proposals ?? [];
      if (first)
        await bookEntry(
          db,
          open?.entry.id ?? 0,
          { customerId, shares: first.shares, remember: false },
          writer,
        );
    },
    exact: () => bookExactMatches(db, statement, writer),
    undo: () => undoEntry(db, entry?.id ?? 0, writer),
    delete: () => transfer && deleteTransfer(db, transfer, writer),
    refund: () => share && recordTypedRefund(db, share.id, typed, writer),
    pay_back: () => transfer && payBackCredit(db, transfer, typed, writer),
    unpay: () => share && deletePayment(db, share.id, writer),
    ignore: () => setEntryState(db, entry?.id ?? 0, 'ignored', writer),
    return: async () => {
      const returns = all.filter((row) => row.is_return);
      const debit = returns[pick % returns.length];
      const [one] = debit ? await proposeReturns(db, entryOf(debit)) : [];
      if (one) await bookReturn(db, debit?.id ?? 0, one, writer);
    },
    reopen: () => setEntryState(db, entry?.id ?? 0, 'open', writer),
  };
  try {
    await steps[kind]();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
  }
}

const entryOf = (row: typeof bankEntries.$inferSelect) => ({ ...row, amount: Number(row.amount) });

async function checkReceived(statement: number, customerId: number) {
  const entries = await base.db.select().from(bankEntries).where(eq(bankEntries.statement_id, statement));
  const booked = entries.filter(({ transfer_id }) => transfer_id !== null);
  const paid = await base.db.select().from(payments).where(eq(payments.customer_id, customerId));
  let credit = 0;
  for (const { transfer_id, amount } of booked) {
    const transfer = await getTransfer(base.db, transfer_id ?? 0);
    expect(transfer.amount).toBe(Number(amount));
    for (const part of [transfer.credit, ...transfer.paid_back.map((one) => one.amount)])
      credit += Math.round(part * 1000);
  }
  const sum = paid.reduce((all, one) => all + toThousandths(one.amount), credit);
  expect(sum).toBe(booked.reduce((all, one) => all + toThousandths(one.amount), 0));
  // A transfer that the bank took back has no credit and no completed payment.
  for (const { returned_transfer_id } of entries) {
    if (returned_transfer_id === null) continue;
    const { reference, credit } = await getTransfer(base.db, returned_transfer_id);
    const left = paid.filter((one) => one.transfer === reference && one.status === 'completed');
    expect([credit, left]).toEqual([0, []]);
  }
}
