import { expect, test } from 'vitest';
import { settledAfter } from '@/lib/invoices/settle';
import { decidePayment, PaymentDraft, warnOfExcess } from '@/lib/payments/decide-payment';
import type { PaymentChange } from '@/lib/payments/schema';
import type { StoredInvoice, StoredLink, StoredPayment, StoredRefund } from '@/lib/store/snapshot';
import { defaultsOf } from '../../simulation/tables';
import { NOW, snapshotOf } from '../../support/draft';

const WRITER = {
  actor: { type: 'token', id: '1', name: 'program' },
  source: 'api',
  now: NOW,
} as const;
/** Builds a stored row of version 3 from the defaults of its table. */
const rowOf = (table: Parameters<typeof defaultsOf>[0], ...given: object[]): object =>
  Object.assign({}, defaultsOf(table), { created_at: NOW, updated_at: NOW, version: 3 }, ...given);

const SENT = {
  ...{ id: 1, number: 'R-1', customer_id: 1, status: 'sent', currency: 'eur', due_date: '2026-03-20' },
  ...{ total: '100.000', amount_paid: '0.000', amount_due: '100.000', stripe_invoice_id: null },
};
const RECEIVED = {
  ...{ id: 7, invoice_id: 1, customer_id: 1, amount: '100.000', currency: 'eur', payment_date: '2026-03-10' },
  ...{ payment_reference: 'BANK-1', refunded_amount: '0.000', status: 'completed', source: 'api' },
};
const payment = (given: Partial<StoredPayment> = {}) => rowOf('payments', RECEIVED, given) as StoredPayment;
const REFUND = { id: 9, payment_id: 7, amount: '40.000', currency: 'eur', status: 'succeeded' };
const refund = (given: Partial<StoredRefund> = {}) =>
  rowOf('refunds', REFUND, { source: 'stripe', stripe_refund_id: 're_1' }, given) as StoredRefund;
const refundHere = (amount = '40.000') => refund({ id: 10, amount, source: 'api', stripe_refund_id: null });
const LINK = rowOf('links', { stripe_customer_id: 'cus_1', customer_id: 1 }) as StoredLink;

interface State {
  invoices?: Partial<StoredInvoice>[];
  payments?: StoredPayment[];
  refunds?: StoredRefund[];
  /** The sum of the payments of invoice 1, in thousandths. */
  paid?: number;
}

const byId = <Row extends { id: number }>(rows: Row[]) => new Map(rows.map((row) => [row.id, row]));

/** Decides on a change. @returns the planned writes and the warning */
function decide(
  { invoices = [{}], payments = [], refunds = [], paid = 0 }: State,
  change: PaymentChange,
  timeZone = 'UTC',
) {
  const writer = { ...WRITER, timeZone };
  const draft = new PaymentDraft(
    snapshotOf({
      rows: {
        invoices: byId(invoices.map((given) => rowOf('invoices', SENT, given) as StoredInvoice)),
        payments: byId(payments),
        refunds: byId(refunds),
        links: new Map([['cus_1', LINK]]),
      },
      paid: new Map([[1, { all: paid, offStripe: paid, back: 0 }]]),
    }),
  );
  const decision = decidePayment(draft, change, writer);
  draft.settle(writer);
  const warning = warnOfExcess(draft, decision);
  return { ...draft.toPlan(), warning };
}

const INPUT = { invoice_id: 1, customer_id: 1, amount: 100, payment_date: '2026-03-10' };
const record = (given: object = {}): PaymentChange => ({
  kind: 'record',
  input: { ...INPUT, payment_reference: 'BANK-1', ...given },
});
const update = (changes: object): PaymentChange => ({ kind: 'update', id: 7, changes });
const REMOVE: PaymentChange = { kind: 'delete', id: 7 };
const BY_INTENT = record({ payment_reference: 'pi_1' });
const PAID = { status: 'paid', amount_paid: '100.000', amount_due: '0.000' } as const;
const due = (amount_due: string) => ({ status: 'sent', amount_due });
const KNOWN = { payments: [payment()] };
/** The invoice and its payment of the full amount. */
const SETTLED = { ...KNOWN, invoices: [PAID], paid: 100_000 };
const REFUNDED_IN_PART = { payments: [payment({ refunded_amount: '40.000' })], refunds: [refund()] };
const REFUNDED = payment({ refunded_amount: '100.000', status: 'refunded' });
const STRIPES = { stripe_invoice_id: 'in_1', stripe_customer_id: 'cus_1' };
const OF_STRIPE = { source: 'stripe', payment_reference: 'in_1' } as const;
const MANAGED = { invoices: [STRIPES], payments: [payment(OF_STRIPE)] };
const OTHER = { id: 2, number: 'R-2' };
const NEW = { inserted: [{ amount: '100.000', source: 'api' }] };
const UNSETTLED = { invoicesSettled: [], invoicesSeen: [{ id: 1, version: 3 }] };

test.each<[string, State, PaymentChange, object]>([
  ['a new payment pays its invoice', {}, record(), { payments: NEW, invoicesSettled: [PAID] }],
  [
    'a pending payment leaves its invoice unpaid, and its commit checks the version of the invoice',
    {},
    record({ status: 'pending' }),
    UNSETTLED,
  ],
  ['a partial payment leaves the rest due', {}, record({ amount: 30 }), { invoicesSettled: [due('70.000')] }],
  [
    'a payment recorded as refunded gets a refund of its amount',
    {},
    record({ status: 'refunded' }),
    { refunds: NEW, invoicesSettled: [] },
  ],
  [
    'recording the same payment again writes nothing',
    { ...KNOWN, paid: 100_000 },
    record(),
    { payments: { inserted: [], updated: [] }, audits: [], invoicesSeen: [] },
  ],
  [
    'recording a payment with a known reference updates that payment',
    SETTLED,
    record({ amount: 60 }),
    {
      payments: { updated: [{ id: 7, amount: '60.000', version: 3 }] },
      invoicesSettled: [{ ...due('40.000'), version: 3 }],
      audits: [{ action: 'payment.update', entity_id: 7, after: { version: 4, updated_at: null } }],
    },
  ],
  [
    'moving a payment to another invoice reopens the first invoice and pays the second',
    { ...SETTLED, invoices: [PAID, OTHER] },
    update({ invoice_id: 2 }),
    {
      invoicesSettled: [
        { ...due('100.000'), id: 1 },
        { id: 2, status: 'paid' },
      ],
    },
  ],
  [
    'a payment of a cancelled invoice can be set to refunded',
    { ...SETTLED, invoices: [{ ...PAID, status: 'cancelled' }] },
    update({ status: 'refunded' }),
    { invoicesSettled: [{ status: 'cancelled', amount_paid: '0.000' }] },
  ],
  [
    'setting a payment to refunded records a refund of the rest',
    { ...REFUNDED_IN_PART, invoices: [PAID], paid: 60_000 },
    update({ status: 'refunded' }),
    {
      payments: { updated: [{ refunded_amount: '100.000', status: 'refunded' }] },
      refunds: { inserted: [{ payment_id: 7, amount: '60.000' }] },
    },
  ],
  [
    'setting a payment to completed cancels the refunds recorded here and keeps those from Stripe',
    { payments: [REFUNDED], refunds: [refund(), refundHere('60.000')] },
    update({ status: 'completed' }),
    {
      payments: { updated: [{ refunded_amount: '40.000' }] },
      refunds: { updated: [{ id: 10, status: 'cancelled' }] },
      invoicesSettled: [{ amount_paid: '60.000' }],
    },
  ],
  [
    'deleting a payment reopens its invoice, and keeps refunds from Stripe without a payment',
    { ...SETTLED, refunds: [refund(), refundHere()] },
    REMOVE,
    {
      payments: { deleted: [{ id: 7 }] },
      refunds: { updated: [{ id: 9, payment_id: null }], deleted: [{ id: 10 }] },
      invoicesSettled: [due('100.000')],
      tombstones: [],
    },
  ],
  [
    'deleting a payment from Stripe leaves a tombstone',
    MANAGED,
    REMOVE,
    { tombstones: ['in_1'], ...UNSETTLED },
  ],
  [
    'changing the reference of a payment from Stripe leaves a tombstone, and its invoice keeps its id',
    MANAGED,
    update({ payment_reference: 'BANK-2' }),
    {
      tombstones: ['in_1'],
      invoices: { updated: [{ id: 1, collected_by_payment_id: 7, version: 3 }] },
      invoicesSettled: [],
      invoicesSeen: [],
    },
  ],
  [
    'a payment whose reference is a Stripe payment intent makes concurrent sync of its customer decide again',
    { invoices: [STRIPES] },
    BY_INTENT,
    { concerned: ['cus_1'], touched: [{ stripe_customer_id: 'cus_1', version: 3 }], money: ['pi_1'] },
  ],
  [
    'a payment above the amount due at Stripe is recorded, with a task and a warning',
    { invoices: [STRIPES] },
    record({ amount: 150 }),
    { tasks: [{ kind: 'payment_exceeds_due' }], warning: expect.stringContaining('150.00 EUR is recorded') },
  ],
])('%s', (_, state, change, expected) => expect(decide(state, change)).toMatchObject(expected));

test('a partial payment leaves an invoice overdue whose due date is over in the configured time zone', () => {
  const late = { invoices: [{ due_date: '2026-03-15' }] };
  const settled = ['UTC', 'Pacific/Kiritimati'].map((timeZone) =>
    decide(late, record({ amount: 30 }), timeZone),
  );
  expect(settled.map((plan) => plan.invoicesSettled[0]?.status)).toEqual(['sent', 'overdue']);
});

const ONLY_NEW = { ...record(), onlyNew: true } as PaymentChange;
const IF_UNCHANGED = { ...REMOVE, precondition: () => false } as PaymentChange;
const ANOTHER = payment({ id: 8, payment_reference: 'BANK-2' });
const OF_INTENT = payment({ ...OF_STRIPE, payment_reference: 'in_9', stripe_payment_intent_id: 'pi_1' });
const IN_YEN = { ...OTHER, currency: 'jpy' };

test.each<[string, State, PaymentChange, string]>([
  ['a payment of an unknown invoice', { invoices: [] }, record(), 'validation_failed invoice_id'],
  ['a payment of a draft', { invoices: [{ status: 'draft' }] }, record(), 'validation_failed invoice_id'],
  ['a payment by another customer', {}, record({ customer_id: 2 }), 'validation_failed customer_id'],
  ['a payment with a fraction of a cent', {}, record({ amount: 1.005 }), 'validation_failed amount'],
  ['a sum of payments too large for its column', { paid: 1e15 - 2 }, record(), 'validation_failed amount'],
  [
    'to change a read-only field of a payment',
    KNOWN,
    update({ source: 'staff' }),
    'validation_failed source',
  ],
  [
    'to move a payment to an invoice in another currency without an amount',
    { ...KNOWN, invoices: [{}, IN_YEN] },
    update({ invoice_id: 2 }),
    'validation_failed amount',
  ],
  [
    'to move a payment to a draft',
    { ...KNOWN, invoices: [{}, { ...OTHER, status: 'draft' }] },
    update({ invoice_id: 2 }),
    'validation_failed invoice_id',
  ],
  [
    'a changed amount whose sum is too large for its column',
    { ...KNOWN, paid: 1e15 - 2 },
    update({ amount: 200 }),
    'validation_failed amount',
  ],
  [
    'a refunded amount below the recorded refunds',
    REFUNDED_IN_PART,
    update({ cameBack: 30 }),
    'validation_failed refunded_amount',
  ],
  [
    'a payment reference that another payment uses',
    { payments: [payment(), ANOTHER] },
    update({ payment_reference: 'BANK-2' }),
    'conflict payment_reference',
  ],
  ['a payment reported by Stripe for the same invoice', MANAGED, BY_INTENT, 'conflict payment_reference'],
  [
    'a payment that Stripe has reported with the same payment intent',
    { payments: [OF_INTENT] },
    BY_INTENT,
    'conflict payment_reference',
  ],
  ['a known reference if the payment must be new', KNOWN, ONLY_NEW, 'conflict payment_reference'],
  ['to delete a payment that has changed since it was read', KNOWN, IF_UNCHANGED, 'precondition_failed '],
  ['to delete a payment that does not exist', {}, REMOVE, 'not_found '],
])('the payment decision refuses %s', (_, state, change, expected) => {
  const [code, field] = expected.split(' ');
  const fields = field ? [expect.objectContaining({ field })] : [];
  expect(() => decide(state, change)).toThrow(expect.objectContaining({ code, fields }));
});

test.each([
  [0, 0],
  [0, 50],
  [0, 119],
  [50, 59],
  [50, 60],
  [50, 110],
  [59, 50],
])(
  'an invoice for 60 EUR that was imported as paid stays paid when its payments change from %s to %s EUR',
  (before, after) => {
    const imported = {
      ...SENT,
      amount_credited: '0',
      status: 'paid',
      total: '60',
      amount_paid: '60',
    } as const;
    const invoice = { ...imported, payment_failed_at: null, uncollectible: false, paid_at: null };
    const at = { today: '2026-03-15', now: NOW };
    const amount_paid = Math.max(60, after).toFixed(3);
    const settled = { amount_paid, amount_due: '0.000', status: 'paid', paid_at: NOW };
    expect(settledAfter(invoice, { before: 1000 * before, after: 1000 * after }, at)).toEqual(settled);
  },
);
