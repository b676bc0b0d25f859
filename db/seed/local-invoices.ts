import { addDays } from '@/lib/dates';
import { toMinorUnits } from '@/lib/money';
import { isUnpaid } from '@/lib/overdue';
import type { Agreement } from './agreement';
import { addMonths, daysBetween, OFFICE_HOURS, SAFE_DAYS } from './calendar';
import { CATALOGUE, priceIn } from './catalogue';
import type { Client } from './clients';
import { amountsOf, invoiceRow } from './invoice-row';
import type { CustomerRow, InvoiceRow, Source } from './rows';

const HISTORY_DAYS = 3 * 365;
/** How many of each status; the rest is paid. */
const OPEN = { draft: 65, cancelled: 190, sent: 110, overdue: 60 };
type Status = keyof typeof OPEN | 'paid';

/** Invoices that Stripe knows nothing of: for transfers, and from before Stripe came. */
export function buildLocalInvoices(
  source: Source,
  clients: Client[],
  agreements: Agreement[],
  count: number,
): InvoiceRow[] {
  const { chance, calendar } = source;
  const ofSubscriptions = agreements.flatMap((agreement) => periodInvoices(source, agreement));
  const open = Object.entries(OPEN).flatMap(([status, n]) => Array<Status>(n).fill(status as Status));
  const paid = Array<Status>(count - open.length - ofSubscriptions.length).fill('paid');
  const others = [...open, ...paid].map((status) => {
    const client = chance.pick(clients);
    return localInvoice(source, client.customer, netOf(source, client), status, ageOf());

    function ageOf(): number {
      if (status === 'draft') return chance.int(0, 9);
      if (status === 'sent') return chance.int(0, 7);
      if (status === 'overdue') return chance.int(31, 240);
      return chance.int(20, HISTORY_DAYS);
    }
  });
  return [...ofSubscriptions, ...others].map((row) => ({ ...row, due_date: dueDate(row) }));

  function dueDate({ status, invoice_date }: InvoiceRow): string | null {
    return status === 'draft' ? null : addDays(invoice_date, chance.pick([14, 14, 14, 30]));
  }
  function periodInvoices(from: Source, agreement: Agreement): InvoiceRow[] {
    const { customer, netMinor, begins, periodEnd, months, row } = agreement;
    const invoices: InvoiceRow[] = [];
    for (let at = begins; at < periodEnd; at = addMonths(begins, months * invoices.length)) {
      const age = daysBetween(calendar.dateOf(at), calendar.today);
      invoices.push({ ...localInvoice(from, customer, netMinor, 'paid', age), subscription_id: row.id });
    }
    return invoices;
  }
}

function localInvoice(
  { chance, calendar }: Source,
  customer: CustomerRow,
  netMinor: number,
  status: Status,
  age: number,
): InvoiceRow {
  const wait = Math.max(0, Math.min(chance.int(2, 35), age - SAFE_DAYS));
  const total = toMinorUnits(amountsOf(customer, netMinor).total, customer.currency);
  const inPart = isUnpaid(status) && age > 0 && chance.happens(0.2);
  return invoiceRow(customer, netMinor, {
    status,
    invoice_date: calendar.day(-age),
    due_date: null,
    ...(inPart && { partMinor: Math.floor((total * chance.int(25, 75)) / 100) }),
    ...(status === 'paid' && {
      paid_at: calendar.instant(wait - age, chance.int(OFFICE_HOURS.from, OFFICE_HOURS.to)),
    }),
  });
}

/** What the customer rents, for some months, or something from the catalogue. */
export function netOf({ chance }: Source, { customer, services }: Client): number {
  const { currency } = customer;
  const own = chance.shuffle(services).slice(0, chance.int(1, 4));
  const rented = own.reduce((sum, { price }) => sum + toMinorUnits(price, currency), 0);
  if (rented > 0 && chance.happens(0.8)) return rented * chance.pick([1, 1, 1, 3, 12]);
  const product = chance.pick(CATALOGUE[chance.pick(['hosting', 'server', 'service', 'license'] as const)]);
  return priceIn(currency, product.cents) * chance.int(1, 8);
}
