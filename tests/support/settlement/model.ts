import type { PaymentChanges, PaymentInput } from '@/lib/payments/schema';

/** Thousandths of a currency's unit: every amount of ours is a whole number of them. */
type Thousandths = bigint;

export interface ModelInvoice {
  id: number;
  customer_id: number;
  currency: string;
  due_date: string | null;
  isManaged: boolean;
  status: string;
  total: Thousandths;
  amount_paid: Thousandths;
  amount_due: Thousandths;
  paid_at: string | null;
}

export interface ModelPayment {
  id: number;
  invoice_id: number;
  customer_id: number;
  amount: Thousandths;
  currency: string;
  payment_date: string;
  payment_reference: string;
  status: string;
  source: string;
}

/** What a write comes to; a refusal with its code and the fields that it names. */
export type Verdict = 'created' | 'changed' | 'same' | 'deleted' | { code: string; fields: string[] };

const DECIMALS: Record<string, number> = { eur: 2, jpy: 0, kwd: 3 };
const LIMIT = 10n ** 15n;

/** The money rules of payments, written down a second time: one at a time, without a database. */
export class PaymentModel {
  readonly payments = new Map<number, ModelPayment>();
  readonly tombstones = new Set<string>();

  constructor(
    readonly invoices: Map<number, ModelInvoice>,
    public now: Date,
    private readonly timeZone: string,
  ) {}

  /** @param newId the id that a created payment has got */
  record(input: PaymentInput, newId: number): Verdict {
    const known = [...this.payments.values()].find((p) => p.payment_reference === input.payment_reference);
    if (known) return this.change(known.id, input);
    const refused = this.check(input, true);
    if (refused) return refused;
    const currency = this.invoices.get(input.invoice_id)?.currency ?? '';
    const status = input.status ?? 'completed';
    const amount = thousandths(String(input.amount));
    return this.replace(null, { ...input, id: newId, amount, currency, status, source: 'api' });
  }

  change(id: number, changes: PaymentChanges): Verdict {
    const before = this.payments.get(id);
    if (!before) return { code: 'not_found', fields: [] };
    const wanted = { ...before, amount: Number(before.amount) / 1000, ...defined(changes) };
    const refused = this.check(wanted, wanted.invoice_id !== before.invoice_id);
    if (refused) return refused;
    const currency = this.invoices.get(wanted.invoice_id)?.currency ?? '';
    const after = { ...wanted, amount: thousandths(String(wanted.amount)), currency };
    if (currency !== before.currency && changes.amount === undefined) return invalid('amount');
    if (Object.entries(after).every(([field, value]) => before[field as keyof ModelPayment] === value)) {
      return 'same';
    }
    return this.replace(before, after);
  }

  remove(id: number): Verdict {
    const before = this.payments.get(id);
    return before ? this.replace(before, null) : { code: 'not_found', fields: [] };
  }

  /** Makes of an invoice what its payments are. */
  settle(invoice: ModelInvoice): void {
    const paid = paidFor(invoice.id, [...this.payments.values()]);
    invoice.amount_paid = paid;
    invoice.amount_due = invoice.total > paid ? invoice.total - paid : 0n;
    if (['draft', 'cancelled'].includes(invoice.status)) return;
    if (paid >= invoice.total) {
      invoice.status = 'paid';
      invoice.paid_at ??= this.now.toISOString();
    } else {
      invoice.status = this.isPastDue(invoice) ? 'overdue' : 'sent';
      invoice.paid_at = null;
    }
  }

  /** What the nightly run does to invoices: of ours, what is past due is overdue. */
  night(): void {
    for (const invoice of this.invoices.values()) {
      if (!invoice.isManaged && invoice.status === 'sent' && this.isPastDue(invoice))
        invoice.status = 'overdue';
    }
  }

  private check(
    payment: { invoice_id: number; customer_id: number; amount: number },
    isNew: boolean,
  ): Verdict | null {
    const invoice = this.invoices.get(payment.invoice_id);
    if (!invoice) return invalid('invoice_id');
    const fields = [
      isNew && ['draft', 'cancelled'].includes(invoice.status) && 'invoice_id',
      invoice.customer_id !== payment.customer_id && 'customer_id',
      decimalsOf(payment.amount) > (DECIMALS[invoice.currency] ?? 0) && 'amount',
    ].filter((field) => field !== false);
    return fields.length > 0 ? invalid(...fields) : null;
  }

  private replace(before: ModelPayment | null, after: ModelPayment | null): Verdict {
    const others = [...this.payments.values()].filter((payment) => payment.id !== before?.id);
    if (after && others.some((payment) => payment.payment_reference === after.payment_reference)) {
      return { code: 'conflict', fields: ['payment_reference'] };
    }
    const rows = after ? [...others, after] : others;
    const touched = [...this.invoices.values()].filter(
      ({ id, isManaged }) => !isManaged && [before?.invoice_id, after?.invoice_id].includes(id),
    );
    if (touched.some(({ id }) => paidFor(id, rows) >= LIMIT)) return invalid('amount');
    if (before) this.payments.delete(before.id);
    if (after) this.payments.set(after.id, after);
    if (before?.source === 'stripe' && before.payment_reference !== after?.payment_reference) {
      this.tombstones.add(before.payment_reference);
    }
    for (const invoice of touched) this.settle(invoice);
    if (!before) return 'created';
    return after ? 'changed' : 'deleted';
  }

  private isPastDue({ due_date }: ModelInvoice): boolean {
    const today = this.now.toLocaleDateString('sv-SE', { timeZone: this.timeZone });
    return due_date !== null && due_date < today;
  }
}

/** Decimal text, with at most three decimals, in thousandths. */
export function thousandths(text: string): Thousandths {
  const [whole = '0', decimals = ''] = text.split('.');
  const value = BigInt(whole.replace('-', '') + decimals.slice(0, 3).padEnd(3, '0'));
  return whole.startsWith('-') ? -value : value;
}

function decimalsOf(amount: number): number {
  const text = String(amount);
  return text.includes('e') ? Number.POSITIVE_INFINITY : (text.split('.')[1] ?? '').length;
}

function paidFor(invoiceId: number, payments: ModelPayment[]): Thousandths {
  return payments
    .filter(({ invoice_id, status }) => invoice_id === invoiceId && status === 'completed')
    .reduce((sum, { amount }) => sum + amount, 0n);
}

function invalid(...fields: string[]): Verdict {
  return { code: 'validation_failed', fields };
}

function defined<Value extends object>(value: Value) {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as {
    [Key in keyof Value]: Exclude<Value[Key], undefined>;
  };
}
