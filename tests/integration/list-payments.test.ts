import { beforeAll, describe, expect, test } from 'vitest';
import { listAudit } from '@/lib/audit/audit-log';
import { paymentList } from '@/lib/payments/list';
import { getPayment, listDeletedPayments, toDeletedPayment } from '@/lib/payments/queries';
import { staffWriter } from '@/lib/payments/typed-payment';
import { deletePayment } from '@/lib/payments/write-payment';
import { useDatabase } from '../support/database';
import { createCustomer, createInvoice, createPayment } from '../support/factories';
import { walkPages } from '../support/walk-pages';

const base = useDatabase();

describe('the payment list of the staff pages', () => {
  const ids: Record<string, number> = {};

  beforeAll(async () => {
    const { db } = base;
    const names = { customer_number: 'K10001', company: 'Weiß & Söhne', email: 'w@weiss.example' };
    const weiss = await createCustomer(db, names);
    const other = await createCustomer(db, { customer_number: 'K100011', email: 'k10001@example.org' });
    const invoice = await createInvoice(db, { number: 'AB-2026-01', customer_id: weiss.id });
    Object.assign(ids, { weiss: weiss.id, invoice: invoice.id });
    const pay = ({ id: invoice_id, customer_id }: typeof invoice, given: object) =>
      createPayment(db, { invoice_id, customer_id, ...given });
    await pay(invoice, { payment_reference: 'SEPA-1', payment_date: '2026-03-01' });
    await pay(invoice, { payment_reference: 'sepa-2', payment_date: '2026-03-02', amount: '9.5' });
    await pay(invoice, { payment_reference: '100%_x', payment_date: '2026-03-02' });
    const failed = { status: 'failed', amount: '200', payment_date: '2026-02-01' };
    // Invoices of two Stripe accounts can have the same number.
    for (const i of [0, 1]) {
      const values = { number: 'TWIN-0001', customer_id: other.id, stripe_invoice_id: `in_${i}` };
      await pay(await createInvoice(db, values), { payment_reference: `CASH-${i}`, ...failed });
    }
  });

  const pageOf = (input: Record<string, string>, start = {}) =>
    paymentList.page(base.db, paymentList.schema.parse(input), start);
  const references = async (input: Record<string, string>, start = {}) =>
    (await pageOf(input, start)).data.map((payment) => payment.payment_reference);

  const WEISS = ['100%_x', 'sepa-2', 'SEPA-1'];
  const CASH = ['CASH-1', 'CASH-0'];
  test.each([
    [{}, [...WEISS, ...CASH]],
    [{ customer: 'k-10001' }, WEISS],
    [{ customer: 'weiß' }, WEISS],
    [{ customer: '@WEISS' }, WEISS],
    [{ customer: '#weiss' }, WEISS],
    [{ customer: 'K1000' }, [...WEISS, ...CASH]],
    [{ customer: 'example.org' }, CASH],
    [{ customer: 'nobody' }, []],
    [{ customer: '%' }, []],
    [{ invoice: 'ab-2026-01' }, WEISS],
    [{ invoice: '#invoice' }, WEISS],
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
  ])('the payment list for the query %j is %j', async (input, expected) => {
    const given = Object.entries(input).map(([name, text]) => [name, text.replace(/#(\w+)/, toId)]);
    expect(await references(Object.fromEntries(given))).toEqual(expected);
  });
  const toId = (text: string, name: string) => (name in ids ? `#${ids[name]}` : text);

  test.each([
    [{ sort: 'reference' }, 'reference'],
    [{ sort: '-reference', from: '2026-01-01' }, '-date'],
    [{ sort: 'reference', to: '2026-01-01' }, '-date'],
    [{ sort: 'reference', to: '2026-01-01', customer: 'weiß' }, 'reference'],
    [{ sort: 'amount', from: '2026-01-01' }, 'amount'],
  ])('the payment list for the query %o is sorted by %s', (input, sort) => {
    expect(paymentList.schema.parse(input).sort).toBe(sort);
  });

  test('the payment list reports that the customer in its filter is unknown', async () => {
    const none = { data: [], count: 0, refused: 'unknown_customer' };
    expect(await pageOf({ customer: 'nobody' })).toMatchObject(none);
  });

  test.each(['-date', 'date', '-amount', 'amount', '-reference', 'reference'])(
    'the payment list sorted by %s can be paged forwards and backwards',
    async (sort) => {
      const read = (start: object) => pageOf({ sort, per_page: '2' }, start);
      const found = (await walkPages(read)).map((payment) => payment.payment_reference);
      expect(found).toEqual(await references({ sort }));
      expect((await read({})).count).toBe(5);
    },
  );

  test('an invalid cursor returns the first page of the payment list', async () => {
    const cursors = ['x', '1', '1.', '9999999999.2026-01-01', '1.2026-02-30', "1.'; drop", '.2026-01-01'];
    for (const cursor of cursors) {
      expect(await references({}, { after: cursor })).toHaveLength(5);
      expect(await references({}, { before: cursor })).toHaveLength(5);
    }
  });

  test.each([
    [{ status: 'paid' }, 'status', expect.stringMatching(/^must be one of pending, .* disputed$/)],
    [{ from: '2026-02-30' }, 'from', 'must be a calendar date YYYY-MM-DD'],
    [{ from: '2026-03-02', to: '2026-03-01' }, 'to', 'must not be before the first day'],
    [{ reference: 'a\u0000b' }, 'reference', 'must not contain control characters'],
    [{ customer: 'x'.repeat(201) }, 'customer', 'must have at most 200 characters'],
  ])('the payment filter %j is refused at the field %s', (input, field, message) => {
    expect(paymentList.schema.safeParse(input).error?.issues).toMatchObject([{ path: [field], message }]);
  });
});

test('a deleted payment can still be read with its last state and who deleted it', async () => {
  const grace = { id: 'staff-1', email: 'grace@example.com' };
  const { id, invoice_id, customer_id } = await createPayment(base.db, {
    payment_reference: 'GONE',
    amount: '12.5',
  });
  const shown = async () => toDeletedPayment(await listAudit(base.db, 'payment', id));
  const listed = () => listDeletedPayments(base.db, { id: invoice_id, customer_id });
  const payment = await getPayment(base.db, id);
  expect([await shown(), await listed()]).toEqual([null, []]);
  const now = new Date('2026-03-15T12:00:00Z');
  await deletePayment(base.db, id, staffWriter({ now: () => now, env: { timeZone: 'UTC' } }, grace));
  expect(await shown()).toEqual({ payment, deleted_by: grace.email, deleted_at: expect.any(Date) });
  const { payment_reference } = payment;
  expect(await listed()).toMatchObject([{ payment: { payment_reference }, deleted_by: grace.email }]);
});
