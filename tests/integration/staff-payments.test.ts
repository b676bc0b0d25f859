import { beforeAll, describe, expect, test } from 'vitest';
import { listAudit } from '@/lib/audit/list-audit';
import { listCustomerCredits } from '@/lib/invoices/customer-credits';
import { deletePayment } from '@/lib/payments/delete-payment';
import { toDeletedPayment } from '@/lib/payments/deleted-payment';
import { findPayableInvoice } from '@/lib/payments/find-payable-invoice';
import { findPayableInvoices } from '@/lib/payments/find-payable-invoices';
import { listDeletedPayments } from '@/lib/payments/list-deleted';
import { listPaymentsForStaff } from '@/lib/payments/list-for-staff';
import { getPayment, listPayments } from '@/lib/payments/queries';
import { recordForInvoice } from '@/lib/payments/record-for-invoice';
import { recordPayment } from '@/lib/payments/record-payment';
import { recordTypedRefund } from '@/lib/payments/record-typed-refund';
import { staffFilters } from '@/lib/payments/staff-filters';
import { staffWriter } from '@/lib/payments/staff-writer';
import { onPostgres, useDatabase } from '../support/database';
import { createCustomer, createInvoice, createPayment } from '../support/factories';

const database = useDatabase();
const grace = { id: 'staff-1', email: 'grace@example.com' };
const writer = () =>
  staffWriter({ now: () => new Date('2026-03-15T12:00:00Z'), env: { timeZone: 'UTC' } }, grace);

describe('the list', () => {
  const numbers: Record<string, number> = {};

  beforeAll(async () => {
    const { db } = database;
    const weiss = await createCustomer(db, {
      customer_number: 'K10001',
      company: 'Weiß & Söhne',
      email: 'w@weiss.example',
    });
    const other = await createCustomer(db, { customer_number: 'K100011', email: 'k10001@example.org' });
    const invoice = await createInvoice(db, { number: 'AB-2026-01', customer_id: weiss.id });
    // Two of Stripe's accounts may number alike.
    const twins = [
      await createInvoice(db, { number: 'TWIN-0001', customer_id: other.id, stripe_invoice_id: 'in_1' }),
      await createInvoice(db, { number: 'TWIN-0001', customer_id: other.id, stripe_invoice_id: 'in_2' }),
    ];
    Object.assign(numbers, { weiss: weiss.id, invoice: invoice.id });
    const on = (of: { id: number; customer_id: number }) => ({
      invoice_id: of.id,
      customer_id: of.customer_id,
    });
    const rows = [
      { ...on(invoice), payment_reference: 'SEPA-1', amount: '10', payment_date: '2026-03-01' },
      { ...on(invoice), payment_reference: 'sepa-2', amount: '9.5', payment_date: '2026-03-02' },
      { ...on(invoice), payment_reference: '100%_x', amount: '10', payment_date: '2026-03-02' },
      ...twins.map((twin, i) => ({
        ...on(twin),
        payment_reference: `CASH-${i}`,
        amount: '200',
        payment_date: '2026-02-01',
        status: 'failed' as const,
      })),
    ];
    for (const row of rows) await createPayment(db, row);
  });

  const references = async (input: Record<string, string>, start = {}) => {
    const page = await listPaymentsForStaff(database.db, staffFilters.parse(input), start);
    return page.data.map((payment) => payment.payment_reference);
  };

  const WEISS = ['100%_x', 'sepa-2', 'SEPA-1'];
  const CASH = ['CASH-1', 'CASH-0'];
  test.each([
    [{}, [...WEISS, ...CASH]],
    [{ customer: 'K10001' }, WEISS],
    [{ customer: 'k-10001' }, WEISS],
    [{ customer: 'weiß' }, WEISS],
    [{ customer: '@WEISS' }, WEISS],
    [{ customer: 'K1000' }, [...WEISS, ...CASH]],
    [{ customer: 'example.org' }, CASH],
    [{ customer: 'nobody' }, []],
    [{ customer: '%' }, []],
    [{ invoice: 'AB-2026-01' }, WEISS],
    [{ invoice: 'ab-2026-01' }, WEISS],
    [{ invoice: 'TWIN-0001' }, CASH],
    [{ invoice: 'AB-2026' }, []],
    [{ invoice: '#9999999999' }, []],
    [{ status: 'failed' }, CASH],
    [{ reference: 'SEPA' }, ['sepa-2', 'SEPA-1']],
    [{ reference: '%_' }, ['100%_x']],
    [{ from: '2026-03-02' }, ['100%_x', 'sepa-2']],
    [{ to: '2026-03-01' }, ['SEPA-1', ...CASH]],
    [{ from: '2026-03-01', to: '2026-03-01' }, ['SEPA-1']],
    [{ sort: 'date' }, [...WEISS, ...CASH].reverse()],
    [{ sort: 'amount' }, ['sepa-2', 'SEPA-1', '100%_x', 'CASH-0', 'CASH-1']],
    [{ sort: '-amount' }, ['CASH-1', 'CASH-0', '100%_x', 'SEPA-1', 'sepa-2']],
    [{ sort: 'nonsense' }, [...WEISS, ...CASH]],
    [{ customer: 'example', sort: '-reference' }, ['sepa-2', 'SEPA-1', 'CASH-1', 'CASH-0', '100%_x']],
    [{ customer: 'K10001', reference: 'sepa', sort: 'amount', status: 'completed' }, ['sepa-2', 'SEPA-1']],
  ])('%j finds %j', async (input, expected) => {
    expect(await references(input)).toEqual(expected);
  });

  test.each([
    [{ sort: 'reference' }, 'reference'],
    [{ sort: '-reference', from: '2026-01-01' }, '-date'],
    [{ sort: 'reference', to: '2026-01-01' }, '-date'],
    [{ sort: 'reference', to: '2026-01-01', customer: 'weiß' }, 'reference'],
    [{ sort: 'amount', from: '2026-01-01' }, 'amount'],
  ])('%o is sorted by %s', (input, sort) => {
    expect(staffFilters.parse(input).sort).toBe(sort);
  });

  test('a text that names no customer is told', async () => {
    const page = await listPaymentsForStaff(database.db, staffFilters.parse({ customer: 'nobody' }), {});
    expect(page).toMatchObject({ data: [], count: 0, refused: 'unknown_customer' });
  });

  test('an id after # is exact', async () => {
    expect(await references({ invoice: `#${numbers.invoice}` })).toEqual(WEISS);
    expect(await references({ customer: `#${numbers.weiss}` })).toEqual(WEISS);
  });

  test.each(['-date', 'date', '-amount', 'amount', '-reference', 'reference'])(
    'sorted by %s the pages hold every payment once, forwards and backwards',
    async (sort) => {
      const all = await references({ sort });
      const filters = staffFilters.parse({ sort, per_page: '2' });
      const seen: string[][] = [];
      let after: string | undefined;
      let before: string | undefined;
      do {
        const page = await listPaymentsForStaff(database.db, filters, { after });
        expect(page.count).toBe(5);
        expect(page.previous === null).toBe(after === undefined);
        seen.push(page.data.map((payment) => payment.payment_reference));
        before = page.previous ?? undefined;
        after = page.next ?? undefined;
      } while (after);
      expect(seen.flat()).toEqual(all);
      const page = await listPaymentsForStaff(database.db, filters, { before });
      expect(page.data.map((payment) => payment.payment_reference)).toEqual(seen.at(-2));
      expect(page.next).not.toBeNull();
    },
  );

  test.each(['x', '1', '1.', '9999999999.2026-01-01', '1.2026-02-30', "1.'; drop", '.2026-01-01'])(
    'a cursor like %s means the first page',
    async (cursor) => {
      expect(await references({}, { after: cursor })).toHaveLength(5);
      expect(await references({}, { before: cursor })).toHaveLength(5);
    },
  );

  test.each([
    [
      { status: 'paid' },
      'status',
      'must be one of pending, completed, failed, refunded, refunded_in_part, disputed',
    ],
    [{ from: '2026-02-30' }, 'from', 'must be a calendar date YYYY-MM-DD'],
    [{ from: '2026-03-02', to: '2026-03-01' }, 'to', 'must not be before the first day'],
    [{ reference: 'a\u0000b' }, 'reference', 'must not contain control characters'],
    [{ customer: 'x'.repeat(201) }, 'customer', 'must have at most 200 characters'],
  ])('%j is refused at %s', (input, field, message) => {
    expect(staffFilters.safeParse(input).error?.issues).toMatchObject([{ path: [field], message }]);
  });
});

describe('a payment that staff record', () => {
  const typed = { amount: '19.00', payment_date: '2026-03-10', payment_reference: ' CASH-2026-1 ' };

  test('is of the customer of its invoice, completed, theirs, and settles it', async () => {
    const { db } = database;
    const invoice = await createInvoice(db, { total: '19', subtotal: '19', tax: '0' });
    const payment = await recordForInvoice(db, invoice.id, typed, writer());
    expect(payment).toMatchObject({
      invoice_id: invoice.id,
      customer_id: invoice.customer_id,
      amount: 19,
      currency: 'eur',
      payment_reference: 'CASH-2026-1',
      status: 'completed',
      source: 'staff',
    });
    const { invoice: paid } = await findPayableInvoice(db, invoice.number ?? '');
    expect(paid).toMatchObject({ status: 'paid', amount_due: 0 });
    expect(await listAudit(db, 'payment', payment.id)).toMatchObject([
      { action: 'payment.create', actor_type: 'staff', actor_name: grace.email, before: null },
    ]);
  });

  test('with a reference that is taken is refused, and the other one stays as it is', async () => {
    const { db } = database;
    const held = await createPayment(db, { payment_reference: 'TAKEN' });
    const invoice = await createInvoice(db);
    const again = recordForInvoice(db, invoice.id, { ...typed, payment_reference: 'TAKEN' }, writer());
    await expect(again).rejects.toMatchObject({
      code: 'conflict',
      fields: [{ field: 'payment_reference', message: 'is used by another payment' }],
    });
    expect(await getPayment(db, held.id)).toMatchObject({ amount: 10, invoice_id: held.invoice_id });
    expect(await listAudit(db, 'payment', held.id)).toEqual([]);
  });

  test('of many at once with one reference exactly one is recorded', async () => {
    const { db } = database;
    const invoice = await createInvoice(db);
    const record = () =>
      recordForInvoice(db, invoice.id, { ...typed, payment_reference: 'AT-ONCE' }, writer());
    const outcomes = await Promise.allSettled(Array.from({ length: onPostgres() ? 8 : 2 }, record));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const { data } = await listPayments(db, { payment_reference: 'AT-ONCE' });
    expect(data).toHaveLength(1);
    expect(await listAudit(db, 'payment', data[0]?.id ?? 0)).toHaveLength(1);
  });

  test('the API still updates a payment of the same reference', async () => {
    const { db } = database;
    const held = await createPayment(db, { payment_reference: 'UPSERT' });
    const input = {
      invoice_id: held.invoice_id,
      customer_id: held.customer_id,
      amount: 11,
      payment_date: '2026-03-11',
      payment_reference: 'UPSERT',
    };
    expect(await recordPayment(db, input, writer())).toMatchObject({
      created: false,
      payment: { amount: 11 },
    });
  });

  test.each([
    ['1119.50', 1119.5],
    ['1119,5', 1119.5],
    [' 12 ', 12],
    ['1,119', null],
    ['1.119,00', null],
    ['1 119', null],
    ['12.345', null],
    ['-5', null],
    ['0', null],
    ['', null],
    ['1e3', null],
    ['9999999999999', null],
  ])('the amount "%s" is read as %s', async (amount, expected) => {
    const { db } = database;
    const invoice = await createInvoice(db);
    const recorded = recordForInvoice(
      db,
      invoice.id,
      { ...typed, amount, payment_reference: `A${amount}` },
      writer(),
    );
    if (expected !== null) expect(await recorded).toMatchObject({ amount: expected });
    else {
      await expect(recorded).rejects.toMatchObject({ fields: [{ field: 'amount' }] });
      expect((await listPayments(db, { invoice_id: invoice.id })).total).toBe(0);
    }
  });

  test('names every field that is wrong', async () => {
    const { db } = database;
    const invoice = await createInvoice(db);
    const empty = { amount: 'x', payment_date: '', payment_reference: ' ' };
    await expect(recordForInvoice(db, invoice.id, empty, writer())).rejects.toMatchObject({
      code: 'validation_failed',
      fields: expect.arrayContaining([
        expect.objectContaining({ field: 'amount' }),
        { field: 'payment_date', message: 'must be a calendar date YYYY-MM-DD' },
        { field: 'payment_reference', message: 'must not be empty' },
      ]),
    });
  });
});

describe('the invoice to be paid', () => {
  test('of an unknown, a draft or an ambiguous one the field says why not', async () => {
    const { db } = database;
    const draft = await createInvoice(db, { number: null, status: 'draft' });
    await createInvoice(db, { number: 'C-1', status: 'cancelled' });
    const one = await createInvoice(db, { number: 'T-1', stripe_invoice_id: 'in_t1' });
    const two = await createInvoice(db, { number: 'T-1', stripe_invoice_id: 'in_t2' });
    for (const [text, message] of [
      ['nope', 'there is no such invoice'],
      ['#0', 'there is no such invoice'],
      ['\u0000', 'must not contain control characters'],
      [`#${draft.id}`, 'is draft and takes no payment'],
      ['C-1', 'is cancelled and takes no payment'],
      ['T-1', `enter one of #${one.id}, #${two.id}`],
    ] as const) {
      await expect(findPayableInvoice(db, text)).rejects.toMatchObject({
        fields: [{ field: 'invoice', message: expect.stringContaining(message) }],
      });
    }
    expect((await findPayableInvoice(db, `#${two.id}`)).invoice.id).toBe(two.id);
  });
});

describe('invoices that a payment may be for', () => {
  test('are found by customer, a part of a number or an amount, unpaid ones first', async () => {
    const { db } = database;
    const customer_id = (await createCustomer(db, { company: 'Zitronengras AG', customer_number: 'K-ZIT' }))
      .id;
    const on = { customer_id, total: '392', amount_due: '392' };
    await createInvoice(db, { ...on, number: 'ZG-2026-0007', status: 'paid', amount_due: '0' });
    await createInvoice(db, { ...on, number: 'ZG-2026-0009', status: 'sent', due_date: '2026-04-01' });
    await createInvoice(db, { ...on, number: 'ZG-2026-0008', status: 'overdue', due_date: '2026-03-01' });
    await createInvoice(db, { ...on, number: 'ZG-2026-0006', status: 'cancelled' });
    const found = async (text: string) => (await findPayableInvoices(db, text)).map(({ number }) => number);
    const all = ['ZG-2026-0008', 'ZG-2026-0009', 'ZG-2026-0007'];
    for (const text of ['zitronen', 'K-ZIT', 'ZG-2026'])
      expect([text, await found(text)]).toEqual([text, all]);
    for (const text of ['392.00', '392,00', '392', '26-000']) {
      expect([text, await found(text)]).toEqual([text, all.slice(0, 2)]);
    }
    expect(await found('26-0009')).toEqual(['ZG-2026-0009']);
    for (const text of ['', '%', 'no such thing', '\u0000'])
      expect([text, await found(text)]).toEqual([text, []]);
  });
});

describe('what was paid too much', () => {
  test('is a credit of the customer, by currency, and of no other', async () => {
    const { db } = database;
    const { id: customer_id } = await createCustomer(db);
    const over = {
      customer_id,
      status: 'paid',
      total: '100',
      amount_due: '0',
      amount_paid: '120.5',
    } as const;
    await createInvoice(db, over);
    await createInvoice(db, { ...over, amount_paid: '100' });
    await createInvoice(db, { ...over, currency: 'chf' });
    await createInvoice(db, { ...over, stripe_invoice_id: 'in_over' });
    await createInvoice(db, { ...over, customer_id: (await createCustomer(db)).id });
    expect(await listCustomerCredits(db, customer_id)).toEqual([
      { currency: 'chf', amount: 20.5 },
      { currency: 'eur', amount: 20.5 },
    ]);
  });
});

describe('a refund that staff record', () => {
  const typed = (amount: string, date = '2026-03-15') => ({ amount, date });

  test('of a part is kept with the payment, which is refunded once all of it is', async () => {
    const { db } = database;
    const invoice = await createInvoice(db, { total: '100', amount_due: '100' });
    const on = { invoice_id: invoice.id, customer_id: invoice.customer_id, payment_date: '2026-03-10' };
    const { payment } = await recordPayment(
      db,
      { ...on, amount: 100, payment_reference: 'PART-1' },
      writer(),
      {},
    );
    const refund = (...given: Parameters<typeof typed>) =>
      recordTypedRefund(db, payment.id, typed(...given), writer());
    for (const [amount, date, field] of [
      ['100.01', '2026-03-15', 'amount'],
      ['0', '2026-03-15', 'amount'],
      ['1', '2026-03-16', 'date'],
      ['1', '2026-03-09', 'date'],
    ] as const) {
      await expect(refund(amount, date)).rejects.toMatchObject({ fields: [{ field }] });
    }
    expect(await refund('40,50')).toMatchObject({ status: 'completed', refunded_amount: 40.5, amount: 100 });
    const [settled] = await findPayableInvoices(db, invoice.number ?? '');
    expect(settled).toMatchObject({ amount_due: 40.5 });
    await expect(refund('59.51')).rejects.toMatchObject({ fields: [{ field: 'amount' }] });
    expect(await refund('59.50', '2026-03-11')).toMatchObject({ status: 'refunded', refunded_amount: 100 });
    await expect(refund('1')).rejects.toMatchObject({ code: 'conflict' });
  });
});

describe('a deleted payment', () => {
  test('is told of by its invoice', async () => {
    const { db } = database;
    const invoice = await createInvoice(db);
    const on = { invoice_id: invoice.id, customer_id: invoice.customer_id };
    const held = await createPayment(db, { ...on, payment_reference: 'GONE-1' });
    expect(await listDeletedPayments(db, invoice)).toEqual([]);
    await deletePayment(db, held.id, writer());
    expect(await listDeletedPayments(db, invoice)).toMatchObject([
      { payment: { payment_reference: 'GONE-1' }, deleted_by: grace.email },
    ]);
  });

  test('is shown as it was, with who deleted it', async () => {
    const { db } = database;
    const held = await createPayment(db, { payment_reference: 'GONE', amount: '12.5' });
    const before = await getPayment(db, held.id);
    expect(toDeletedPayment(await listAudit(db, 'payment', held.id))).toBeNull();
    await deletePayment(db, held.id, writer());
    expect(toDeletedPayment(await listAudit(db, 'payment', held.id))).toEqual({
      payment: before,
      deleted_by: grace.email,
      deleted_at: expect.any(Date),
    });
  });
});
