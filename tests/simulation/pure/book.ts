import { toCalendarDate } from '@/lib/dates';
import { toThousandths } from '@/lib/money';
import type { StoredInvoice, StoredPayment } from '@/lib/store/snapshot';
import type { ModelEntry, ModelTables } from './tables';

/** Ids of the written records, and today's date in `timeZone`. */
export interface Booking {
  invoices: number[];
  payments: number[];
  today: string;
  timeZone: string;
}

/** The fields of an entry about an invoice or a payment. */
type Fact = Pick<
  ModelEntry,
  'record' | 'invoice_id' | 'payment_id' | 'original_date' | 'net' | 'tax' | 'gross' | 'currency'
> & { isSum: boolean };

/** Books entries like the SQL function `book_entries`. */
export function bookModel(tables: ModelTables, { invoices, payments, today, timeZone }: Booking): void {
  const { rows } = tables;
  const ofPayment = (id: number) => [
    rows.payments.get(id)?.invoice_id,
    ...[...rows.entries.values()].filter((one) => one.payment_id === id).map((one) => one.invoice_id),
  ];
  const all = new Set([...invoices, ...payments.flatMap(ofPayment)]);
  const facts = [
    ...[...all].flatMap((id) => {
      const invoice = id === undefined ? undefined : rows.invoices.get(id);
      return invoice ? ofInvoice(tables, invoice, today, timeZone) : [];
    }),
    ...payments.flatMap((id) => {
      const payment = rows.payments.get(id);
      return payment ? ofPaymentRow(tables, payment, timeZone) : [];
    }),
  ];
  const bySum = new Set(
    facts.filter((fact) => fact.isSum && fact.record === 'payment').map((fact) => fact.payment_id),
  );
  const isSum = ({ record, payment_id }: ModelEntry) =>
    ['credit', 'write_off', 'balance', 'paid_elsewhere'].includes(record) ||
    (record === 'payment' && bySum.has(payment_id));
  const known = [...rows.entries.values()].filter((one) =>
    one.payment_id === null ? all.has(one.invoice_id) : payments.includes(one.payment_id),
  );
  const reversedIds = new Set(known.map(({ reverses }) => reverses));
  const standing = known.filter((one) => !isSum(one) && one.reverses === null && !reversedIds.has(one.id));
  const fresh: Fact[] = [];
  for (const fact of facts.filter((one) => !one.isSum)) {
    const at = standing.findIndex((one) => keyOf(one) === keyOf(fact));
    if (at < 0) fresh.push(fact);
    else standing.splice(at, 1);
  }
  fresh.push(...differences(facts, known.filter(isSum), today));
  const open = `${today.slice(0, 7)}-01`;
  const entries = [
    ...standing.map(({ id, net, tax, gross, booked_on, ...of }) => ({
      ...of,
      booked_on: booked_on > today ? booked_on : today,
      reverses: id as number | null,
      ...{ net: negated(net), tax: negated(tax), gross: amount(-toThousandths(gross)) },
    })),
    ...fresh.map(({ isSum: _, ...fact }) => ({
      ...fact,
      booked_on: fact.original_date >= open ? fact.original_date : today,
      reverses: null,
      ...textsOf(tables, fact),
    })),
  ];
  for (const entry of entries.sort(inOrder)) {
    const id = tables.nextId('entries');
    tables.put('entries', id, { ...entry, id });
  }
}

function ofInvoice({ rows }: ModelTables, invoice: StoredInvoice, today: string, timeZone: string): Fact[] {
  const { id: invoice_id, status, currency, invoice_date, subtotal, tax, total } = invoice;
  if (status === 'draft' || status === 'cancelled') return [];
  const of = { invoice_id, payment_id: null, currency };
  const isOwn = invoice.stripe_invoice_id === null;
  const recorded = [...rows.payments.values()].filter(
    (one) =>
      one.invoice_id === invoice_id &&
      (one.status === 'completed' || (one.status === 'refunded' && !isOwn)) &&
      (isOwn || (one.source !== 'stripe' && one.id !== invoice.collected_by_payment_id)),
  );
  const paid = recorded.reduce(
    (sum, one) => sum + toThousandths(one.amount) - toThousandths(isOwn ? one.refunded_amount : '0'),
    0,
  );
  const paidInAll = isOwn ? invoice.amount_paid : (invoice.amount_off_stripe ?? '0');
  const creditedOn = invoice.provider_as_of ? toCalendarDate(invoice.provider_as_of, timeZone) : today;
  const sums = [
    { record: 'credit' as const, sum: -toThousandths(invoice.amount_credited), original_date: creditedOn },
    {
      record: 'write_off' as const,
      sum: invoice.uncollectible && status === 'overdue' ? -toThousandths(invoice.amount_due) : 0,
      original_date: creditedOn,
    },
    {
      record: 'balance' as const,
      sum: toThousandths(invoice.balance_applied ?? '0'),
      original_date: invoice_date,
    },
    {
      record: 'paid_elsewhere' as const,
      sum: Math.max(0, toThousandths(paidInAll) - paid),
      original_date: invoice.paid_at ? toCalendarDate(invoice.paid_at, timeZone) : invoice_date,
    },
  ];
  return [
    { record: 'invoice', ...of, original_date: invoice_date, net: subtotal, tax, gross: total, isSum: false },
    ...sums
      .filter(({ sum }) => sum !== 0)
      .map(({ sum, ...one }) => ({ ...one, ...of, net: null, tax: null, gross: amount(sum), isSum: true })),
  ];
}

function ofPaymentRow({ rows }: ModelTables, payment: StoredPayment, timeZone: string): Fact[] {
  const { id: payment_id, invoice_id, currency, status, source, provider_amount } = payment;
  if (status !== 'completed' && status !== 'refunded') return [];
  const of = { invoice_id, payment_id, currency, net: null, tax: null };
  const isIts = (one: { payment_id: number | null; currency: string }) =>
    one.payment_id === payment_id && one.currency === currency;
  const refunds = [...rows.refunds.values()].filter(
    (one) =>
      isIts(one) && (one.status === 'succeeded' || (one.status === 'pending' && one.source !== 'stripe')),
  );
  const disputes = [...rows.disputes.values()].filter(
    (one) =>
      isIts(one) &&
      (one.status === 'lost' ||
        (one.status === 'prevented' && one.funds_withdrawn_at !== null && one.funds_returned_at === null)),
  );
  const back = [
    ...refunds.map((one) => ({ id: one.id, sum: toThousandths(one.amount), at: one.issued_at })),
    ...disputes.map((one) => ({
      id: -one.id,
      sum: toThousandths(one.amount),
      at: one.funds_withdrawn_at ?? one.issued_at,
    })),
  ].sort((a, b) => a.at.getTime() - b.at.getTime() || a.sum - b.sum || a.id - b.id);
  const facts: Fact[] = [
    {
      record: 'payment',
      ...of,
      original_date: payment.payment_date,
      gross: payment.amount,
      isSum: source === 'stripe' && payment.amount === provider_amount,
    },
  ];
  let left = toThousandths(payment.amount);
  for (const { sum, at } of back) {
    const counted = Math.min(sum, left);
    left -= counted;
    if (counted === 0) continue;
    const original_date = toCalendarDate(at, timeZone);
    facts.push({ record: 'refund', ...of, original_date, gross: amount(-counted), isSum: false });
  }
  return facts;
}

/** Returns the differences between the sums of the facts and the booked sums, as facts to book. */
function differences(facts: Fact[], known: ModelEntry[], today: string): Fact[] {
  const sums = new Map<string, Fact & { sum: number }>();
  const add = (one: Fact | ModelEntry, sum: number, original_date: string) => {
    const { record, invoice_id, payment_id, currency } = one;
    const key = [record, invoice_id, payment_id, currency].join();
    const fact = { record, invoice_id, payment_id, currency, net: null, tax: null, gross: '', isSum: true };
    const found = sums.get(key) ?? { ...fact, original_date: '', sum: 0 };
    const later = found.original_date > original_date ? found.original_date : original_date;
    sums.set(key, { ...found, sum: found.sum + sum, original_date: later });
  };
  for (const fact of facts.filter((one) => one.isSum))
    add(fact, toThousandths(fact.gross), fact.original_date);
  for (const entry of known) add(entry, -toThousandths(entry.gross), '');
  return [...sums.values()]
    .filter(({ sum }) => sum !== 0)
    .map(({ sum, ...fact }) => ({
      ...fact,
      original_date: fact.original_date || today,
      gross: amount(sum),
    }));
}

function textsOf(
  { rows }: ModelTables,
  { record, invoice_id, payment_id }: Pick<Fact, 'record' | 'invoice_id' | 'payment_id'>,
) {
  const invoice = rows.invoices.get(invoice_id);
  const payment = payment_id === null ? undefined : rows.payments.get(payment_id);
  const customer = rows.customers.get(payment?.customer_id ?? invoice?.customer_id ?? 0);
  return {
    customer_number: customer?.customer_number ?? '',
    invoice_number: invoice?.number ?? null,
    credit_note_number: null,
    due_date: record === 'invoice' ? (invoice?.due_date ?? null) : null,
    payment_reference: payment?.payment_reference ?? null,
    method: payment?.source ?? null,
    tax_rate: null,
  };
}

const keyOf = (of: Fact | ModelEntry) =>
  [of.record, of.invoice_id, of.payment_id, of.original_date, of.net, of.tax, of.gross, of.currency].join(
    '|',
  );

const amount = (thousandths: number) => (thousandths / 1000).toFixed(3);
const negated = (text: string | null) => (text === null ? null : amount(-toThousandths(text)));

type Unsaved = Omit<ModelEntry, 'id'>;

function inOrder(a: Unsaved, b: Unsaved): number {
  return (
    (a.reverses ?? Number.MAX_SAFE_INTEGER) - (b.reverses ?? Number.MAX_SAFE_INTEGER) ||
    (a.booked_on < b.booked_on ? -1 : Number(a.booked_on > b.booked_on)) ||
    a.invoice_id - b.invoice_id ||
    (a.payment_id ?? 0) - (b.payment_id ?? 0) ||
    (a.record < b.record ? -1 : Number(a.record > b.record)) ||
    Number(a.gross) - Number(b.gross)
  );
}
