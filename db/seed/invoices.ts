import type { Agreement } from './agreement';
import { OFFICE_HOURS, SAFE_DAYS } from './calendar';
import type { Client } from './clients';
import { buildLocalInvoices, netOf } from './local-invoices';
import type { InvoiceRow, Source } from './rows';
import { periodInvoices, stripeInvoice } from './stripe-invoices';

/** Stripe came to this company later than its customers: older invoices are local. */
const FROM_STRIPE = 1720;
const SINGLE = { draft: 12, open: 26, failing: 8, void: 40, paid: 40 };

export function buildInvoices(
  source: Source,
  clients: Client[],
  agreements: Agreement[],
  count: number,
): InvoiceRow[] {
  const atStripe = agreements.filter(({ row }) => row.stripe_subscription_id !== null);
  const local = agreements.filter(({ row }) => row.stripe_subscription_id === null);
  const stripe = newest(
    [
      ...atStripe.flatMap((agreement) => periodInvoices(source, agreement)),
      ...singleInvoices(
        source,
        clients.filter(({ services: own }) => own.length > 0),
      ),
    ],
    FROM_STRIPE,
  );
  const charged = new Set(atStripe.map(({ customer }) => customer.id));
  // Customers that Stripe charges rarely have own invoices, and mostly old ones.
  const billed = clients.filter(({ customer }) => !charged.has(customer.id) || customer.id % 4 === 0);
  const all = [...stripe, ...buildLocalInvoices(source, billed, local, count - stripe.length)];
  return numbered(source, all);
}

/** Invoices at Stripe without a subscription: set-up, consulting, hardware. */
function singleInvoices(source: Source, clients: Client[]): InvoiceRow[] {
  const { chance, calendar } = source;
  return (Object.keys(SINGLE) as (keyof typeof SINGLE)[]).flatMap((standing) =>
    Array.from({ length: SINGLE[standing] }, () => {
      const client = chance.pick(clients);
      const age = standing === 'draft' ? SAFE_DAYS : standing === 'open' ? agesOfOpen() : chance.int(15, 400);
      const created = calendar.instant(-age, chance.int(OFFICE_HOURS.from, OFFICE_HOURS.to));
      const bill = {
        customer: client.customer,
        stripeId: chance.pick(client.stripeIds),
        netMinor: netOf(source, client),
        created,
        byInvoice: standing !== 'failing',
      };
      return stripeInvoice(source, bill, standing);
    }),
  );

  function agesOfOpen(): number {
    return chance.happens(0.7) ? chance.int(SAFE_DAYS, 5) : chance.int(32, 150);
  }
}

function newest(rows: InvoiceRow[], count: number): InvoiceRow[] {
  return rows.toSorted((a, b) => b.invoice_date.localeCompare(a.invoice_date)).slice(0, count);
}

/** Ids and numbers by date: ours count through the year, Stripe's through each customer's invoices. */
function numbered({ chance }: Source, invoices: InvoiceRow[]): InvoiceRow[] {
  const counters = new Map<string, number>();
  const next = (series: string) => {
    const n = (counters.get(series) ?? 0) + 1;
    counters.set(series, n);
    return n;
  };
  const prefixes = new Map<string | null, string>();
  return invoices
    .toSorted((a, b) => a.invoice_date.localeCompare(b.invoice_date))
    .map((invoice, i) => ({
      ...invoice,
      id: i + 1,
      number: invoice.status === 'draft' ? null : numberOf(invoice),
    }));

  function numberOf({ stripe_invoice_id, stripe_customer_id, invoice_date }: InvoiceRow): string {
    const year = invoice_date.slice(0, 4);
    if (stripe_invoice_id === null) return `${year}-${String(next(year)).padStart(6, '0')}`;
    const prefix = prefixes.get(stripe_customer_id) ?? chance.fill('^^^^^^^^');
    prefixes.set(stripe_customer_id, prefix);
    return `${prefix}-${String(next(prefix)).padStart(4, '0')}`;
  }
}
