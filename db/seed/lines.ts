import { addMonths } from '@/lib/dates';
import { hashLines } from '@/lib/line-hash';
import { fromMinorUnits, toMinorUnits } from '@/lib/money';
import { CATALOGUE, type Client } from './catalogue';
import { placeOf } from './names';
import { type CustomerRow, type InvoiceRow, nulls, type SeedContext, type StripeLineRow } from './rows';
import type { Agreement } from './subscriptions';

/** Weights of the number of lines per document. */
const LINES = { 1: 55, 2: 30, 3: 15 };
const QUANTITIES = [1, 1, 1, 2, 3, 6, 12];

/** Builds the lines of invoices or sales documents. `Column` is the foreign key of the lines. */
export function buildLines<Column extends 'invoice_id' | 'sales_document_id'>(
  source: SeedContext,
  clients: Client[],
  owners: Owner[],
  column: Column,
) {
  const linesOf = createLines(source, clients);
  const lines = owners.flatMap((owner) =>
    linesOf(owner).map((line) => ({ ...line, ...({ [column]: owner.id } as Record<Column, number>) })),
  );
  return lines.map((line, i) => ({ ...line, id: i + 1 }));
}

/** Builds the lines of Stripe's invoices, as sync would have written them, and adds their fingerprints to the invoices. */
export function buildStripeLines(
  source: SeedContext,
  clients: Client[],
  invoices: InvoiceRow[],
  agreements: Agreement[],
): StripeLineRow[] {
  const monthsOf = new Map(agreements.map(({ row, months }) => [row.id, months]));
  const linesOf = createLines(source, clients);
  const built = invoices.flatMap((invoice) => {
    const { id: invoice_id, currency } = invoice;
    const minor = (amount: string) => toMinorUnits(amount, currency);
    const period_start = source.calendar.startOf(invoice.invoice_date);
    const period_end = addMonths(period_start, monthsOf.get(invoice.subscription_id ?? 0) ?? 0);
    let net = 0;
    const rows = linesOf(invoice).map(({ position, text, quantity, unit_price, tax_rate }) => {
      const amount = minor(unit_price) * Number(quantity);
      const tax = taxUpTo(net + amount) - taxUpTo(net);
      net += amount;
      const taxed = {
        amount: fromMinorUnits(tax, currency),
        inclusive: false,
        rate: String(Number(tax_rate)),
      };
      return {
        ...{
          invoice_id,
          position,
          description: text,
          period_start,
          period_end,
          quantity: String(Number(quantity)),
        },
        ...{ amount: fromMinorUnits(amount, currency), discount: fromMinorUnits(0, currency) },
        taxes: tax === 0 ? [] : [{ ...taxed, type: null, reason: 'standard_rated' }],
      };
    });
    const hashed = rows.map((row) => ({ ...row, periodStart: period_start, periodEnd: period_end }));
    Object.assign(invoice, { lines_hash: hashLines(hashed, null), lines_complete: true });
    return rows;

    /** Returns the tax on the first `part` minor units of the invoice's net amount. */
    function taxUpTo(part: number): number {
      return part === 0 ? 0 : Math.round((minor(invoice.tax) * part) / minor(invoice.subtotal));
    }
  });
  return built.map((row, i) => ({ ...row, id: i + 1 }));
}

type Owner = Pick<InvoiceRow, 'id' | 'customer_id' | 'currency' | 'subtotal'>;

/** Returns a function that builds lines with net amounts that add up to the subtotal of an invoice or document. */
function createLines({ chance }: SeedContext, clients: Client[]) {
  const byId = new Map(clients.map((client) => [client.customer.id, client]));
  return ({ customer_id, currency, subtotal }: Owner) => {
    const client = byId.get(customer_id);
    if (!client) throw new Error(`${customer_id} is nobody`);
    const names = chance.shuffle(textsOf(client));
    const tax_rate = taxRate(client.customer).toFixed(2);
    return split(toMinorUnits(subtotal, currency)).map((net, i) => {
      const quantity = chance.pick(QUANTITIES.filter((count) => net % count === 0));
      return {
        position: i + 1,
        text: names[i % names.length] ?? '',
        quantity: quantity.toFixed(3),
        unit_price: fromMinorUnits(net / quantity, currency),
        tax_rate,
      };
    });
  };

  /** Splits a net amount into up to three amounts. All but the last are multiples of ten minor units, as prices are. */
  function split(net: number): number[] {
    const parts: number[] = [];
    let rest = net;
    for (let left = Number(chance.weighted(LINES)); left > 1; left--) {
      const part = Math.floor((rest * chance.int(25, 65)) / 1000) * 10;
      if (part <= 0 || part >= rest) continue;
      parts.push(part);
      rest -= part;
    }
    return [...parts, rest];
  }
}

/** Returns texts for a customer's lines: the rented services and, if these are fewer than three, catalogue items. */
function textsOf({ services }: Client): string[] {
  const rented = services.map(({ name, domain }) => (domain ? `${name}, ${domain}` : name));
  return rented.length >= 3 ? rented : [...rented, ...CATALOGUE.service.map(({ name }) => name)];
}

interface Opening extends Pick<InvoiceRow, 'status' | 'invoice_date' | 'due_date'> {
  /** Amount paid so far, in minor units. Not needed for a paid invoice. */
  partMinor?: number;
  paid_at?: Date;
}

/** Builds an invoice with amounts that match its status. Ids and numbers are assigned after all invoices are built. */
export function invoiceRow(customer: CustomerRow, netMinor: number, opening: Opening): InvoiceRow {
  const { status, invoice_date, due_date, partMinor = 0, paid_at = null } = opening;
  const amounts = amountsOf(customer, netMinor);
  const total = toMinorUnits(amounts.total, customer.currency);
  const paid = status === 'paid' ? total : partMinor;
  return {
    id: 0,
    customer_id: customer.id,
    status,
    invoice_date,
    due_date,
    ...amounts,
    amount_paid: fromMinorUnits(paid, customer.currency),
    amount_due: fromMinorUnits(status === 'cancelled' ? 0 : total - paid, customer.currency),
    paid_at,
    uncollectible: false,
    reminded_on: [],
    amount_credited: '0',
    ...nulls('number', 'subscription_id', 'payment_failed_at', 'amount_off_stripe', 'balance_applied'),
    ...nulls('collected_by_payment_id', 'stripe_invoice_id', 'stripe_customer_id', 'stripe_synced_at'),
    ...nulls('provider_as_of', 'provider_gone_at', 'recheck_at', 'lines_hash'),
    lines_complete: false,
  };
}

/** Returns the currency of an invoice or document, and its net amount, tax and total as decimal text. */
export function amountsOf(customer: CustomerRow, netMinor: number) {
  const { currency } = customer;
  const tax = Math.round((netMinor * taxRate(customer)) / 100);
  return {
    currency,
    subtotal: fromMinorUnits(netMinor, currency),
    tax: fromMinorUnits(tax, currency),
    total: fromMinorUnits(netMinor + tax, currency),
  };
}

/**
 * Returns the tax rate in percent. The rate is 0 for tax-exempt customers, for customers outside the EU, and for
 * customers outside Germany with a VAT id (reverse charge).
 */
function taxRate({ country, vat_id, tax_exempt }: CustomerRow): number {
  const { vatRate } = placeOf(country);
  if (tax_exempt || vatRate === null) return 0;
  return country !== 'DE' && vat_id ? 0 : vatRate;
}
