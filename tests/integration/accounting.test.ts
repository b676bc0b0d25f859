import { buffer } from 'node:stream/consumers';
import { eq, sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { rows } from '@/db/database';
import { accountingEntries, company, customers, invoices } from '@/db/schema';
import { DEMO_COMPANY } from '@/db/seed/company';
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
import { readRows } from '../support/database';
import { createCustomer, createStripeInvoice } from '../support/factories';
import * as act from '../support/stripe-actions';
import { DAY, useSync } from '../support/sync';

const NOVEMBER = new Date('2026-11-03T12:00:00Z');
const sync = useSync({ withKey: true, now: new Date('2026-10-20T12:00:00Z') });

async function exported(month: string, form?: CsvForm): Promise<string> {
  const parts: string[] = [];
  for await (const part of accountingCsv(sync.db, month, form)) parts.push(part);
  return parts.join('');
}

/** Returns a month's entries, each as record, event, date, original date, invoice number and gross amount. */
async function postedIn(month: string) {
  const [, ...lines] = unquotedLines((await exported(month)).trim());
  return lines.map((line) => {
    const cells = line.split(',');
    return [0, 1, 2, 3, 8, 14].map((at) => cells[at]);
  });
}

/** Creates a sent invoice over 119 EUR that Stripe does not manage. */
async function sendOwn(number: string) {
  const { customer_number } = await createCustomer(sync.db);
  const values = { number, customer_number, status: 'sent', subtotal: 100, tax: 19, total: 119 };
  const { id } = await saveRecord(sync.db, invoiceKind, { values }, sync.writer());
  const [invoice] = await sync.db.select().from(invoices).where(eq(invoices.id, id));
  if (!invoice) throw new Error('the invoice is gone');
  return invoice;
}

const numberOf = async (id: string) => String((await sync.invoiceOf(id))?.number);

test('later corrections do not change the accounting export of a past month', async () => {
  const { world } = sync;
  const pay = (of: { id: number; customer_id: number }, payment_reference: string, payment_date: string) =>
    recordPayment(
      sync.db,
      { invoice_id: of.id, customer_id: of.customer_id, amount: 119, payment_date, payment_reference },
      sync.writer(),
    );
  // Create the records of October, the exported month.
  const partial = await sync.bill();
  await sync.happen(() => act.payInvoicePart(world, partial, 5_000));
  const [failing, won, lost, pending, credited, voided] = [
    await sync.collect(),
    await sync.collect(),
    await sync.collect(),
    await sync.collect(),
    await sync.bill(),
    await sync.bill(),
  ];
  const refund = act.refundPayment(world, { invoice: failing.invoice }).object.id;
  const returned = act.openDispute(world, { invoice: won.invoice }).object.id;
  act.moveDispute(world, returned, 'under_review');
  act.moveDispute(world, returned, 'lost');
  const open = act.openDispute(world, { invoice: lost.invoice }).object.id;
  const late = act.refundPayment(world, { invoice: pending.invoice, status: 'pending' }).object.id;
  const own = [await sendOwn('OWN-1'), await sendOwn('OWN-2'), await sendOwn('OWN-3')] as const;
  const { payment: changed } = await pay(own[0], 'BANK-1', '2026-10-20');
  const { payment: deleted } = await pay(own[1], 'BANK-2', '2026-10-20');
  await sync.run();
  const october = await exported('2026-10');
  const paidThen = [failing, won, lost, pending].map(async (one) => [await numberOf(one.invoice), '119.00']);
  expect((await postedIn('2026-10')).filter(([record]) => record !== 'invoice').sort()).toEqual(
    [
      ...[
        ...(await Promise.all(paidThen)),
        [await numberOf(partial), '50.00'],
        ['OWN-1', '119.00'],
        ['OWN-2', '119.00'],
      ].map((one) => ['payment', 'collected', '2026-10-20', '2026-10-20', ...one]),
      ['refund', 'refunded', '2026-10-20', '2026-10-20', await numberOf(failing.invoice), '-119.00'],
      ['refund', 'refunded', '2026-10-20', '2026-10-20', await numberOf(won.invoice), '-119.00'],
    ].sort(),
  );

  // Change October's records in November.
  sync.runtime.setNow(NOVEMBER);
  await sync.happen(() => act.payInvoice(world, partial));
  act.settleRefund(world, refund, 'failed');
  const before = world.disputes.get(returned);
  if (before) world.disputes.put({ ...before, status: 'won' }); // A bank may change its decision about a dispute.
  act.moveDispute(world, open, 'under_review');
  act.moveDispute(world, open, 'lost');
  act.settleRefund(world, late, 'succeeded');
  act.createCreditNote(world, { invoice: credited, amount: 1_900 });
  await sync.happen(() => act.voidInvoice(world, voided));
  await sync.run();
  await updatePayment(sync.db, changed.id, { amount: 100 }, sync.writer());
  await deletePayment(sync.db, deleted.id, sync.writer());
  await pay(own[1], 'BANK-LATE', '2026-10-31');
  await saveRecord(sync.db, invoiceKind, { id: own[2].id, values: { status: 'cancelled' } }, sync.writer());
  expect(await exported('2026-10')).toBe(october);
  const [on, was] = ['2026-11-03', '2026-10-20'];
  expect((await postedIn('2026-11')).sort()).toEqual(
    [
      ['invoice', 'cancelled', on, was, await numberOf(voided), '-119.00'],
      ['invoice', 'cancelled', on, on, 'OWN-3', '-119.00'],
      ['credit', 'credited', on, on, await numberOf(credited), '-19.00'],
      ['payment', 'collected', on, on, await numberOf(partial), '69.00'],
      ['payment', 'collection_reversed', on, was, 'OWN-1', '-119.00'],
      ['payment', 'collected', on, was, 'OWN-1', '100.00'],
      ['payment', 'collection_reversed', on, was, 'OWN-2', '-119.00'],
      ['payment', 'collected', on, '2026-10-31', 'OWN-2', '119.00'],
      ['refund', 'refund_reversed', on, was, await numberOf(failing.invoice), '119.00'],
      ['refund', 'refund_reversed', on, was, await numberOf(won.invoice), '119.00'],
      ['refund', 'refunded', on, was, await numberOf(lost.invoice), '-119.00'],
      ['refund', 'refunded', on, was, await numberOf(pending.invoice), '-119.00'],
    ].sort(),
  );
});

test('the accounting export omits an amount that is booked and reversed within one month', async () => {
  sync.runtime.setNow(new Date('2026-12-10T12:00:00Z'));
  const own = await sendOwn('OWN-DEC');
  const { payment } = await recordPayment(
    sync.db,
    {
      ...{ invoice_id: own.id, customer_id: own.customer_id, amount: 119 },
      ...{ payment_date: '2026-12-01', payment_reference: 'BANK-DEC' },
    },
    sync.writer(),
  );
  await updatePayment(sync.db, payment.id, { amount: 19, payment_date: '2026-12-05' }, sync.writer());
  expect((await postedIn('2026-12')).filter(([record]) => record === 'payment')).toEqual([
    ['payment', 'collected', '2026-12-05', '2026-12-05', 'OWN-DEC', '19.00'],
  ]);
});

test('a payment corrected in a later month is reversed in that month’s accounting export', async () => {
  sync.runtime.setNow(new Date('2027-01-10T12:00:00Z'));
  const [wrong, right] = [await sendOwn('OWN-WRONG'), await sendOwn('OWN-RIGHT')];
  const { payment } = await recordPayment(
    sync.db,
    {
      ...{ invoice_id: wrong.id, customer_id: wrong.customer_id, amount: 119 },
      ...{ payment_date: '2027-01-09', payment_reference: 'BANK-JAN' },
    },
    sync.writer(),
  );
  const january = await exported('2027-01');
  sync.runtime.setNow(new Date('2027-02-03T12:00:00Z'));
  const typed = {
    invoice: 'OWN-RIGHT',
    amount: '119,00',
    payment_date: '2027-01-08',
    payment_reference: 'BANK-8',
  };
  const writer = { ...sync.writer(), source: 'staff' as const };
  const corrected = await correctPayment(sync.db, payment.id, typed, writer, () => true);
  expect(corrected).toMatchObject({ invoice_id: right.id, customer_id: right.customer_id });
  expect(await exported('2027-01')).toBe(january);
  expect(await postedIn('2027-02')).toEqual([
    ['payment', 'collection_reversed', '2027-02-03', '2027-01-09', 'OWN-WRONG', '-119.00'],
    ['payment', 'collected', '2027-02-03', '2027-01-08', 'OWN-RIGHT', '119.00'],
  ]);
});

test('changes requested before the end of a month but written after it are booked in the new month', async () => {
  sync.runtime.setNow(new Date('2027-03-31T12:00:00Z'));
  const [paid, cancelled] = [await sendOwn('OWN-PAID'), await sendOwn('OWN-CANCELLED')];
  const payment = {
    ...{ invoice_id: paid.id, customer_id: paid.customer_id, amount: 119 },
    ...{ payment_date: '2027-03-31', payment_reference: 'BANK-MARCH' },
  };
  const { id } = (await recordPayment(sync.db, payment, sync.writer())).payment;
  const march = await exported('2027-03');
  sync.runtime.setNow(new Date('2027-03-31T23:59:59Z'));
  const program = apiWriter(sync.runtime, { id: 1, name: 'program' });
  const staff = staffRecordWriter(sync.runtime, { id: 'grace', email: 'grace@example.com' });
  sync.runtime.setNow(new Date('2027-04-01T00:00:05Z'));
  await deletePayment(sync.db, id, program);
  await saveRecord(sync.db, invoiceKind, { id: cancelled.id, values: { status: 'cancelled' } }, staff);
  expect(await exported('2027-03')).toBe(march);
  expect((await postedIn('2027-04')).map(([record, , on]) => [record, on])).toEqual([
    ['invoice', '2027-04-01'],
    ['payment', '2027-04-01'],
  ]);
});

test('accounting entries rebuilt from the current records have the same sums as before', async () => {
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
  const values = { customer_number, number: 'OWN-AT', status: 'sent', subtotal: 80, tax: 0, total: 80 };
  await saveRecord(sync.db, invoiceKind, { values }, sync.writer());
  await sync.db.update(customers).set({ country: 'CH', vat_id: null });
  const found = await readRows(sync.db, accountingEntries, sql`invoice_number = 'OWN-AT'`);
  expect(found).toMatchObject([{ customer_country: 'AT', customer_vat_id: 'ATU00000001' }]);
});

test.each([
  ['comma', '19,6.30,1.20,7.50,eur', '7.5,465,35,500,jpy', '0,-7.500,0.000,-7.500,kwd'],
  ['semicolon', '19;6,30;1,20;7,50;eur', '7,5;465;35;500;jpy', '0;-7,500;0,000;-7,500;kwd'],
] as const)(
  'the accounting export in the format %s has all decimals of each currency',
  async (form, ...ends) => {
    const entry = {
      record: 'invoice',
      invoice_id: 1,
      customer_number: 'K-1',
      customer_name: '=1+1',
    } as const;
    const days = { booked_on: '2020-01-31', original_date: '2020-01-31' };
    const amounts = [
      { currency: 'eur', tax_rate: '19', net: '6.3', tax: '1.2', gross: '7.5' },
      { currency: 'jpy', tax_rate: '7.5', net: '465', tax: '35', gross: '500' },
      { currency: 'kwd', tax_rate: '0', net: '-7.5', tax: '0', gross: '-7.5' },
    ];
    await sync.db.delete(accountingEntries).where(eq(accountingEntries.booked_on, '2020-01-31'));
    await sync.db.insert(accountingEntries).values(amounts.map((one) => ({ ...entry, ...days, ...one })));
    const mark = form === 'comma' ? ',' : ';';
    const [, ...lines] = (await exported('2020-01', form)).trim().split('\r\n');
    const cells = lines.map((line) => line.slice(1, -1).split(`"${mark}"`));
    expect(cells.map((row) => row.slice(11, 16).join(mark))).toEqual(ends);
    expect(cells.map((row) => row[5])).toEqual(Array(3).fill("'=1+1"));
  },
);

test('the accounting export splits a Stripe invoice and its cancellation by the tax rates of the lines', async () => {
  const id = await sync.bill({ lines: [{ amount: 10_000 }, { amount: 5000 }], tax: 2250 });
  const { id: invoice_id, number } = (await sync.invoiceOf(id)) ?? { id: 0 };
  for (const [position, rate, amount] of [
    [1, '19', '19.00'],
    [2, '7', '3.50'],
  ]) {
    const taxes = [{ amount, rate, inclusive: false, type: 'vat', reason: 'standard_rated' }];
    await sync.db.execute(sql`update stripe_invoice_lines set taxes = ${JSON.stringify(taxes)}::jsonb
      where invoice_id = ${invoice_id} and position = ${position}`);
  }
  const month = sync.now().toISOString().slice(0, 7);
  const amounts = async (of: string) => {
    const lines = unquotedLines((await exported(of)).trim()).map((line) => line.split(','));
    return lines.filter((cells) => cells[8] === number).map((cells) => [cells[1], ...cells.slice(11, 15)]);
  };
  const issued = [
    ['issued', '19', '100.00', '19.00', '119.00'],
    ['issued', '7', '50.00', '3.50', '53.50'],
  ];
  expect(await amounts(month)).toEqual(issued);
  sync.later(31 * DAY);
  await sync.happen((world) => act.voidInvoice(world, id));
  await sync.run();
  expect(await amounts(month)).toEqual(issued);
  expect(await amounts(sync.now().toISOString().slice(0, 7))).toEqual([
    ['cancelled', '19', '-100.00', '-19.00', '-119.00'],
    ['cancelled', '7', '-50.00', '-3.50', '-53.50'],
  ]);
  // An invoice whose lines do not add up to its total is not split by tax rate.
  await sync.db.execute(
    sql`update stripe_invoice_lines set amount = 99 where invoice_id = ${invoice_id} and position = 1`,
  );
  expect(await amounts(month)).toEqual([['issued', '', '150.00', '22.50', '172.50']]);
});

test('SQL and TypeScript use the same number of decimals for each currency', async () => {
  const codes = 'eur jpy isk ugx bhd tnd kwd usd xaf krw lyd huf clp vnd'.split(' ');
  const found = await rows<{ code: string; decimals: number }>(
    sync.db,
    sql`select code, currency_decimals(code) as decimals from unnest(${`{${codes}}`}::text[]) code`,
  );
  expect(found).toEqual(codes.map((code) => ({ code, decimals: currencyDecimals(code) })));
});

test('the DATEV export names missing accounts, and leaves out entries that are not in euros', async () => {
  const file = () => buffer(datevFile(sync.db, '2020-02', NOVEMBER));
  const [eur, chf] = [await sendOwn('OWN-EUR'), await sendOwn('OWN-CHF')];
  const entry = { record: 'invoice', customer_number: 'K-1', customer_name: 'Müller' } as const;
  const days = { booked_on: '2020-02-29', original_date: '2020-02-29' };
  const amounts = { tax_rate: '19', net: '100', tax: '19', gross: '119' };
  await sync.db.insert(accountingEntries).values([
    { ...entry, ...days, ...amounts, invoice_id: eur.id, invoice_number: 'OWN-EUR', currency: 'eur' },
    { ...entry, ...days, ...amounts, invoice_id: chf.id, invoice_number: 'OWN-CHF', currency: 'chf' },
  ]);
  await expect(file()).rejects.toThrow('Client number, Consultant number, Debtor account');
  const settings = { ...(await getAccountingSettings(sync.db)), accounts: PRESETS.skr04 };
  const typed = { ...toTyped(settings), consultant_number: '1001', client_number: '7' };
  const writer = { actor: sync.writer().actor };
  const wrong = { ...typed, account_length: '5', revenue: 'S 19' };
  await expect(saveAccountingSettings(sync.db, wrong, writer)).rejects.toMatchObject({
    fields: expect.arrayContaining([expect.objectContaining({ field: 'revenue' })]),
  });
  await saveAccountingSettings(sync.db, typed, writer);
  expect(toTyped(await getAccountingSettings(sync.db))).toEqual(typed);
  const lines = (await file()).toString('latin1').split('\r\n');
  expect(lines).toHaveLength(4);
  expect(lines[2]).toMatch(/^119,00;"S";"EUR";;;;1210;4400;"";2902;"OWN-EUR";;;"Rechnung Müller";/);
  expect(await planDatev(sync.db, '2020-02')).toMatchObject({ postings: 1, leftOutCount: 1, missing: [] });
});

test('the DATEV export posts an untaxed Stripe invoice by the tax category of its document', async () => {
  const settings = { ...(await getAccountingSettings(sync.db)), accounts: PRESETS.skr04 };
  const typed = { ...toTyped(settings), consultant_number: '1001', client_number: '7' };
  await saveAccountingSettings(sync.db, typed, { actor: sync.writer().actor });
  await sync.db.insert(company).values(DEMO_COMPANY);
  const amounts = { subtotal: '100', tax: '0', total: '100' };
  const cases: [account: string, customer: Record<string, unknown>, reason: string | null][] = [
    ['4100', { country: 'DE', tax_exempt: true }, null],
    ['4100', { country: 'DE' }, 'product_exempt'],
    ['4290', { country: 'DE' }, 'zero_rated'],
    ['4120', { country: 'US' }, 'zero_rated'],
    ['4125', { country: 'AT', vat_id: 'ATU00000001' }, 'zero_rated'],
    ['4336', { country: 'AT', vat_id: 'ATU00000001' }, null],
  ];
  for (const [i, [, customer, reason]] of cases.entries()) {
    const { id: customer_id, country, vat_id } = await createCustomer(sync.db, customer);
    const tax = { amount: '0', rate: '0', reason };
    const invoice = await createStripeInvoice(
      sync.db,
      { customer_id, ...amounts, number: `ZERO-${i}` },
      { tax },
    );
    await sync.db.insert(accountingEntries).values({
      ...{ record: 'invoice', customer_number: 'K-1', customer_name: 'Zero', currency: 'eur' },
      ...{ booked_on: '2020-03-02', original_date: '2020-03-02', net: '100', tax: '0', gross: '100' },
      ...{ invoice_id: invoice.id, invoice_number: invoice.number },
      ...{ customer_country: country, customer_vat_id: vat_id },
    });
  }
  const [, , ...lines] = (await buffer(datevFile(sync.db, '2020-03', NOVEMBER)))
    .toString('latin1')
    .split('\r\n');
  expect(lines.slice(0, -1).map((line) => line.split(';')[7])).toEqual(cases.map(([account]) => account));
});
