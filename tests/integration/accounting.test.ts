import { buffer, text } from 'node:stream/consumers';
import { eq, type SQL, sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { rows } from '@/db/database';
import { accountingEntries, company, customers, invoices } from '@/db/schema';
import { DEMO_COMPANY } from '@/db/seed/company';
import { bookEntries } from '@/lib/book-entries';
import { accountingCsv, type CsvForm } from '@/lib/exports/accounting-csv';
import {
  getAccountingSettings,
  PRESETS,
  saveAccountingSettings,
  toTyped,
} from '@/lib/exports/accounting-settings';
import { datevFile, planDatev } from '@/lib/exports/datev';
import { invoiceKind } from '@/lib/invoices/save-invoices';
import { currencyDecimals } from '@/lib/money';
import { correctPayment } from '@/lib/payments/typed-payment';
import { apiWriter, deletePayment, recordPayment, updatePayment } from '@/lib/payments/write-payment';
import { staffRecordWriter } from '@/lib/records/record-kind';
import { saveRecord } from '@/lib/records/save-records';
import { unquotedLines } from '../support/csv';
import { readRow, readRows } from '../support/database';
import { createCustomer, createInvoice, createStripeInvoice } from '../support/factories';
import { problemsOf } from '../support/problems';
import * as act from '../support/stripe-actions';
import { DAY, useSync } from '../support/sync';

const sync = useSync({ withKey: true, now: new Date('2026-10-20T12:00:00Z') });
const setNow = (instant: string) => sync.runtime.setNow(new Date(instant));

const exported = (month: string, form?: CsvForm) => text(accountingCsv(sync.db, month, form));

/** Returns a month's entries, each as record, event, date, original date, invoice number and gross amount. */
async function postedIn(month: string) {
  const [, ...lines] = unquotedLines((await exported(month)).trim());
  const cells = lines.map((line) => line.split(','));
  return cells.map((row) => [0, 1, 2, 3, 8, 14].map((at) => row[at]).join(' '));
}

/** Creates a sent invoice that Stripe does not manage, for 119 EUR by default. */
async function sendOwn(number: string, more: Record<string, unknown> = {}) {
  const { customer_number } = await createCustomer(sync.db);
  const sums = { subtotal: 100, tax: 19, total: 119 };
  const values = { number, customer_number, status: 'sent', ...sums, ...more };
  const { id } = await saveRecord(sync.db, invoiceKind, { values }, sync.writer());
  return readRow(sync.db, invoices, id);
}

/** Records a payment of 119 EUR that Stripe did not collect. */
const pay = async (
  { id: invoice_id, customer_id }: { id: number; customer_id: number },
  payment_reference: string,
  payment_date: string,
) => {
  const payment = { invoice_id, customer_id, amount: 119, payment_date, payment_reference };
  return (await recordPayment(sync.db, payment, sync.writer())).payment;
};

test('the accounting export shows corrections in the month in which they are made, and leaves a past month as it was', async () => {
  const { world } = sync;
  // Create the records of October, the exported month.
  const partial = await sync.bill();
  await sync.happen(() => act.payInvoicePart(world, partial, 5_000));
  const [failing, won] = [await sync.collect(), await sync.collect()];
  const [lost, pending] = [await sync.collect(), await sync.collect()];
  const [credited, voided, kept] = [await sync.bill(), await sync.bill(), await sync.collect()];
  const refund = act.refundPayment(world, { invoice: failing.invoice }).object.id;
  const dispute = (invoice: string) => act.openDispute(world, { invoice }).object.id;
  const lose = (id: string) => {
    for (const status of ['under_review', 'lost'] as const) act.moveDispute(world, id, status);
  };
  const [returned, open] = [dispute(won.invoice), dispute(lost.invoice)];
  lose(returned);
  const late = act.refundPayment(world, { invoice: pending.invoice, status: 'pending' }).object.id;
  const own = [await sendOwn('OWN-1'), await sendOwn('OWN-2'), await sendOwn('OWN-3')] as const;
  const changed = await pay(own[0], 'BANK-1', '2026-10-20');
  const deleted = await pay(own[1], 'BANK-2', '2026-10-20');
  await sync.run();
  const october = await exported('2026-10');
  const numberOf = async (id: string) => String((await sync.invoiceOf(id))?.number);
  const collected = [failing, won, lost, pending, kept].map(({ invoice }) => numberOf(invoice));
  const [failingNo, wonNo, lostNo, pendingNo, keptNo] = await Promise.all(collected);
  const [partialNo, creditedNo, voidedNo] = await Promise.all([partial, credited, voided].map(numberOf));
  const was = '2026-10-20';
  expect((await postedIn('2026-10')).filter((entry) => !entry.startsWith('invoice')).sort()).toEqual(
    [
      ...[failingNo, wonNo, lostNo, pendingNo, keptNo, 'OWN-1', 'OWN-2'].map(
        (number) => `payment collected ${was} ${was} ${number} 119.00`,
      ),
      `payment collected ${was} ${was} ${partialNo} 50.00`,
      `refund refunded ${was} ${was} ${failingNo} -119.00`,
      `refund refunded ${was} ${was} ${wonNo} -119.00`,
    ].sort(),
  );

  // Change October's records in November.
  setNow('2026-11-03T12:00:00Z');
  await sync.happen(() => act.payInvoice(world, partial));
  act.settleRefund(world, refund, 'failed');
  const before = world.disputes.get(returned);
  if (before) world.disputes.put({ ...before, status: 'won' }); // A bank may change its decision about a dispute.
  lose(open);
  act.settleRefund(world, late, 'succeeded');
  act.createCreditNote(world, { invoice: credited, amount: 1_900 });
  act.createCreditNote(world, { invoice: kept.invoice, amount: 1_900, balanceAmount: 1_900 });
  await sync.happen(() => act.voidInvoice(world, voided));
  await sync.run();
  await updatePayment(sync.db, changed.id, { amount: 100 }, sync.writer());
  await deletePayment(sync.db, deleted.id, sync.writer());
  await pay(own[1], 'BANK-LATE', '2026-10-31');
  await saveRecord(sync.db, invoiceKind, { id: own[2].id, values: { status: 'cancelled' } }, sync.writer());
  expect(await exported('2026-10')).toBe(october);
  const on = '2026-11-03';
  expect((await postedIn('2026-11')).sort()).toEqual(
    [
      `invoice cancelled ${on} ${was} ${voidedNo} -119.00`,
      `invoice cancelled ${on} ${on} OWN-3 -119.00`,
      `credit credited ${on} ${on} ${creditedNo} -19.00`,
      `credit credited ${on} ${on} ${keptNo} -19.00`,
      `balance balance_increased ${on} ${on} ${keptNo} -19.00`,
      `payment collected ${on} ${on} ${partialNo} 69.00`,
      `payment collection_reversed ${on} ${was} OWN-1 -119.00`,
      `payment collected ${on} ${was} OWN-1 100.00`,
      `payment collection_reversed ${on} ${was} OWN-2 -119.00`,
      `payment collected ${on} 2026-10-31 OWN-2 119.00`,
      `refund refund_reversed ${on} ${was} ${failingNo} 119.00`,
      `refund refund_reversed ${on} ${was} ${wonNo} 119.00`,
      `refund refunded ${on} ${was} ${lostNo} -119.00`,
      `refund refunded ${on} ${was} ${pendingNo} -119.00`,
    ].sort(),
  );
});

test('the accounting export omits an amount that is booked and reversed within one month', async () => {
  setNow('2026-12-10T12:00:00Z');
  const { id } = await pay(await sendOwn('OWN-DEC'), 'BANK-DEC', '2026-12-01');
  await updatePayment(sync.db, id, { amount: 19, payment_date: '2026-12-05' }, sync.writer());
  expect((await postedIn('2026-12')).filter((entry) => entry.startsWith('payment'))).toEqual([
    'payment collected 2026-12-05 2026-12-05 OWN-DEC 19.00',
  ]);
});

test('a payment corrected in a later month is reversed and booked again in the later month’s accounting export', async () => {
  setNow('2027-01-10T12:00:00Z');
  const [wrong, right] = [await sendOwn('OWN-WRONG'), await sendOwn('OWN-RIGHT')];
  const { id } = await pay(wrong, 'BANK-JAN', '2027-01-09');
  const january = await exported('2027-01');
  setNow('2027-02-03T12:00:00Z');
  const dated = { payment_date: '2027-01-08', payment_reference: 'BANK-8' };
  const typed = { invoice: 'OWN-RIGHT', amount: '119,00', ...dated };
  const writer = { ...sync.writer(), source: 'staff' as const };
  const corrected = await correctPayment(sync.db, id, typed, writer, () => true);
  expect(corrected).toMatchObject({ invoice_id: right.id, customer_id: right.customer_id });
  expect(await exported('2027-01')).toBe(january);
  expect(await postedIn('2027-02')).toEqual([
    'payment collection_reversed 2027-02-03 2027-01-09 OWN-WRONG -119.00',
    'payment collected 2027-02-03 2027-01-08 OWN-RIGHT 119.00',
  ]);
});

test('changes requested before the end of a month but written after it are booked in the new month', async () => {
  setNow('2027-03-31T12:00:00Z');
  const [paid, cancelled] = [await sendOwn('OWN-PAID'), await sendOwn('OWN-CANCELLED')];
  const { id } = await pay(paid, 'BANK-MARCH', '2027-03-31');
  const march = await exported('2027-03');
  setNow('2027-03-31T23:59:59Z');
  const program = apiWriter(sync.runtime, { id: 1, name: 'program' });
  const staff = staffRecordWriter(sync.runtime, { id: 'grace', email: 'grace@example.com' });
  setNow('2027-04-01T00:00:05Z');
  await deletePayment(sync.db, id, program);
  await saveRecord(sync.db, invoiceKind, { id: cancelled.id, values: { status: 'cancelled' } }, staff);
  expect(await exported('2027-03')).toBe(march);
  expect(await postedIn('2027-04')).toEqual([
    expect.stringMatching(/^invoice \w+ 2027-04-01 /),
    expect.stringMatching(/^payment \w+ 2027-04-01 /),
  ]);
});

test('an amount overpaid at Stripe is booked as an increase of the customer’s balance', async () => {
  setNow('2027-05-03T12:00:00Z');
  const overpaid = { amount_paid: '139', amount_due: '0', balance_applied: '0', number: 'S-OVER' } as const;
  const dates = { invoice_date: '2027-05-01', paid_at: sync.runtime.now() };
  const { id } = await createStripeInvoice(sync.db, { status: 'paid', ...overpaid, ...dates });
  await bookEntries(sync.db, { invoices: [id] }, sync.writer());
  expect(await postedIn('2027-05')).toContain(
    'balance balance_increased 2027-05-03 2027-05-03 S-OVER -20.00',
  );
});

test('refunding a payment that Stripe counts as paid outside Stripe books no other payment', async () => {
  setNow('2027-06-03T12:00:00Z');
  const off = { amount_paid: '119', amount_due: '0', amount_off_stripe: '119', number: 'S-OFF' } as const;
  const invoice = await createStripeInvoice(sync.db, { status: 'paid', invoice_date: '2027-06-01', ...off });
  const { id } = await pay(invoice, 'BANK-OFF', '2027-06-02');
  await updatePayment(sync.db, id, { status: 'refunded' }, sync.writer());
  expect(await postedIn('2027-06')).toEqual([
    expect.stringMatching(/^invoice issued /),
    'payment collected 2027-06-02 2027-06-02 S-OFF 119.00',
    'refund refunded 2027-06-03 2027-06-03 S-OFF -119.00',
  ]);
});

test('rebuilding the accounting entries from the current records keeps their sums, and a second time adds no entries', async () => {
  const sums = () =>
    rows(
      sync.db,
      sql`select record, invoice_id, payment_id, sum(gross)::text as sum from accounting_entries
        group by 1, 2, 3 having sum(gross) <> 0 order by 1, 2, 3`,
    );
  const kept = await sums();
  await sync.db.delete(accountingEntries);
  await sync.db.execute(sql`select book_history('UTC')`);
  expect(await sums()).toEqual(kept);
  const made = await sync.db.$count(accountingEntries);
  await sync.db.execute(sql`select book_history('UTC')`);
  await sync.run();
  expect(await sync.db.$count(accountingEntries)).toBe(made);
});

test('an accounting entry keeps the country and the VAT ID that its customer had when it was booked', async () => {
  const { customer_number } = await createCustomer(sync.db, { country: 'AT', vat_id: 'ATU00000001' });
  await sendOwn('OWN-AT', { customer_number, subtotal: 80, tax: 0, total: 80 });
  await sync.db.update(customers).set({ country: 'CH', vat_id: null });
  const found = await readRows(sync.db, accountingEntries, sql`invoice_number = 'OWN-AT'`);
  expect(found).toMatchObject([{ customer_country: 'AT', customer_vat_id: 'ATU00000001' }]);
});

/** Inserts an accounting entry, by default of an invoice for 119 EUR. */
const post = (
  booked_on: string,
  invoice_id: number,
  values: Partial<typeof accountingEntries.$inferInsert>,
) =>
  sync.db.insert(accountingEntries).values({
    ...{ record: 'invoice', customer_number: 'K-1', customer_name: 'Müller', invoice_id, booked_on },
    ...{ original_date: booked_on, currency: 'eur', tax_rate: '19', net: '100', tax: '19', gross: '119' },
    ...values,
  });

test.each([
  ['comma', '19,6.30,1.20,7.50,eur', '7.5,465,35,500,jpy', '0,-7.500,0.000,-7.500,kwd'],
  ['semicolon', '19;6,30;1,20;7,50;eur', '7,5;465;35;500;jpy', '0;-7,500;0,000;-7,500;kwd'],
] as const)(
  'the accounting export in the form %s writes amounts with all decimals of their currency, and escapes formulas',
  async (form, ...ends) => {
    await sync.db.delete(accountingEntries).where(eq(accountingEntries.booked_on, '2020-01-31'));
    for (const amounts of [
      { currency: 'eur', tax_rate: '19', net: '6.3', tax: '1.2', gross: '7.5' },
      { currency: 'jpy', tax_rate: '7.5', net: '465', tax: '35', gross: '500' },
      { currency: 'kwd', tax_rate: '0', net: '-7.5', tax: '0', gross: '-7.5' },
    ])
      await post('2020-01-31', 1, { customer_name: '=1+1', ...amounts });
    const mark = form === 'comma' ? ',' : ';';
    const [, ...lines] = (await exported('2020-01', form)).trim().split('\r\n');
    const cells = lines.map((line) => line.slice(1, -1).split(`"${mark}"`));
    expect(cells.map((row) => row.slice(11, 16).join(mark))).toEqual(ends);
    expect(cells.map((row) => row[5])).toEqual(Array(3).fill("'=1+1"));
  },
);

test('the accounting export splits entries of a Stripe invoice by tax rate only if its lines add up to its totals', async () => {
  const id = await sync.bill({ lines: [{ amount: 10_000 }, { amount: 5000 }], tax: 2250 });
  const { id: invoice_id, number } = (await sync.invoiceOf(id)) ?? { id: 0 };
  const setLine = (position: number, change: SQL) =>
    sync.db.execute(sql`update stripe_invoice_lines set ${change}
      where invoice_id = ${invoice_id} and position = ${position}::int`);
  const taxed = { inclusive: false, type: 'vat', reason: 'standard_rated' };
  const setTax = (position: number, rate: string, amount: string) =>
    setLine(position, sql`taxes = ${JSON.stringify([{ amount, rate, ...taxed }])}::jsonb`);
  await setTax(1, '19', '19.00');
  await setTax(2, '7', '3.50');
  const month = () => sync.now().toISOString().slice(0, 7);
  const first = month();
  /** Returns event, tax rate, net amount, tax and gross amount of the invoice's entries. */
  const amounts = async (of: string) => {
    const lines = unquotedLines((await exported(of)).trim()).map((line) => line.split(','));
    const own = lines.filter((cells) => cells[8] === number);
    return own.map((cells) => [cells[1], ...cells.slice(11, 15)].join(' '));
  };
  const issued = ['issued 19 100.00 19.00 119.00', 'issued 7 50.00 3.50 53.50'];
  expect(await amounts(first)).toEqual(issued);
  sync.later(31 * DAY);
  await sync.happen((world) => act.voidInvoice(world, id));
  await sync.run();
  expect(await amounts(first)).toEqual(issued);
  const cancelled = ['cancelled 19 -100.00 -19.00 -119.00', 'cancelled 7 -50.00 -3.50 -53.50'];
  expect(await amounts(month())).toEqual(cancelled);
  // An invoice whose lines do not add up to its totals is not split by tax rate.
  await setLine(1, sql`amount = 99`);
  expect(await amounts(first)).toEqual(['issued  150.00 22.50 172.50']);
});

test('SQL and TypeScript use the same number of decimals for currencies with 0, 2 and 3 decimals', async () => {
  const codes = 'eur jpy isk ugx bhd tnd kwd usd xaf krw lyd huf clp vnd'.split(' ');
  const found = await rows<{ code: string; decimals: number }>(
    sync.db,
    sql`select code, currency_decimals(code) as decimals from unnest(${`{${codes}}`}::text[]) code`,
  );
  expect(found).toEqual(codes.map((code) => ({ code, decimals: currencyDecimals(code) })));
});

const datevLines = async (month: string, leftOut: string[] = []) =>
  (await buffer(datevFile(sync.db, month, sync.now(), (reason) => leftOut.push(reason))))
    .toString('latin1')
    .split('\r\n');

/** Saves accounting settings with the accounts of SKR 04. @returns the values of the form */
async function saveAccounts(more: Record<string, string> = {}) {
  const settings = { ...(await getAccountingSettings(sync.db)), accounts: PRESETS.skr04 };
  const typed = { ...toTyped(settings), consultant_number: '1001', client_number: '7', ...more };
  await saveAccountingSettings(sync.db, typed, { actor: sync.writer().actor });
  return typed;
}

test('the DATEV export is refused while settings are missing, names these, and leaves out entries that are not in euros', async () => {
  const [eur, chf] = [await sendOwn('OWN-EUR'), await sendOwn('OWN-CHF')];
  await post('2020-02-29', eur.id, { invoice_number: 'OWN-EUR' });
  await post('2020-02-29', chf.id, { invoice_number: 'OWN-CHF', currency: 'chf' });
  const missing = 'Client number, Consultant number, Debtor account';
  await expect(datevLines('2020-02')).rejects.toThrow(missing);
  expect(await problemsOf(saveAccounts({ account_length: '5', revenue: 'S 19' }))).toContain('revenue');
  expect(await problemsOf(saveAccounts({ revenue: 'S 19 4400\nS 19 4401' }))).toEqual(['revenue']);
  const typed = await saveAccounts();
  expect(toTyped(await getAccountingSettings(sync.db))).toEqual(typed);
  const leftOut: string[] = [];
  const lines = await datevLines('2020-02', leftOut);
  expect(leftOut).toEqual(['Invoice OWN-CHF: its currency is CHF.']);
  expect(lines).toHaveLength(4);
  expect(lines[2]).toMatch(/^119,00;"S";"EUR";;;;1210;4400;"";2902;"OWN-EUR";;;"Rechnung Müller";/);
  expect(await planDatev(sync.db, '2020-02')).toMatchObject({ postings: 1, leftOutCount: 1, missing: [] });
});

test('the DATEV export posts an untaxed Stripe invoice to the account for the tax category of its document', async () => {
  await saveAccounts();
  await sync.db.insert(company).values(DEMO_COMPANY);
  const vienna = { country: 'AT', vat_id: 'ATU00000001' };
  const cases: [account: string, customer: Record<string, unknown>, reason: string | null][] = [
    ['4100', { country: 'DE', tax_exempt: true }, null],
    ['4100', { country: 'DE' }, 'product_exempt'],
    ['4290', { country: 'DE' }, 'zero_rated'],
    ['4120', { country: 'US' }, 'zero_rated'],
    ['4125', vienna, 'zero_rated'],
    ['4336', vienna, null],
  ];
  const untaxed = { tax: '0', gross: '100', tax_rate: null };
  for (const [i, [, customer, reason]] of cases.entries()) {
    const { id: customer_id, country, vat_id } = await createCustomer(sync.db, customer);
    const invoice = { customer_id, tax: '0', total: '100', number: `ZERO-${i}` };
    const { id, number } = await createStripeInvoice(sync.db, invoice, {
      ...{ tax: { amount: '0', rate: '0', reason } },
    });
    const buyer = { customer_country: country, customer_vat_id: vat_id };
    await post('2020-03-02', id, { ...untaxed, ...buyer, invoice_number: number });
  }
  const [, , ...lines] = await datevLines('2020-03');
  expect(lines.slice(0, -1).map((line) => line.split(';')[7])).toEqual(cases.map(([account]) => account));
});

test('the DATEV export takes the rate of a Stripe invoice from its totals if its lines do not add up to them', async () => {
  await saveAccounts();
  const { id } = await createStripeInvoice(sync.db, {}, { taxes: [] });
  await post('2020-06-01', id, { tax_rate: null });
  const [, , line] = await datevLines('2020-06');
  expect(line?.split(';')[7]).toBe('4400');
});

test('the DATEV export leaves out entries of customers whose numbers give the same debtor account, also in different months', async () => {
  for (const [customer_number, month] of [
    ['A-7012', '2020-04'],
    ['B-7012', '2020-05'],
    ['C-7013', '2020-05'],
  ] as const) {
    const { id: customer_id } = await createCustomer(sync.db, { customer_number });
    const { id } = await createInvoice(sync.db, { customer_id });
    await post(`${month}-01`, id, { customer_number, invoice_number: customer_number });
  }
  await saveAccounts({ debtor: '', debtor_base: '10000' });
  const leftOut: string[] = [];
  const posted = [await datevLines('2020-04', leftOut), await datevLines('2020-05', leftOut)].map((lines) =>
    lines.slice(2, -1).map((line) => line.split(';')[6]),
  );
  expect(posted).toEqual([[], ['17013']]);
  const reason = 'the customer numbers A-7012, B-7012 give the same debtor account 17012.';
  expect(leftOut).toEqual([`Invoice A-7012: ${reason}`, `Invoice B-7012: ${reason}`]);
});
