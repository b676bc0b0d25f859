import { addDays } from '@/lib/dates';
import { unpaidStatus } from '@/lib/overdue';
import type { Agreement } from './agreement';
import { addMonths, addSeconds, SAFE_DAYS } from './calendar';
import { invoiceRow } from './invoice-row';
import type { CustomerRow, InvoiceRow, Source } from './rows';

const HOUR = 3600;
const DAY = 24 * HOUR;

interface Bill {
  customer: CustomerRow;
  stripeId: string | null;
  netMinor: number;
  created: Date;
  byInvoice: boolean;
}

/** How an invoice stands at Stripe. `failing`: open, and the charge did not go through. */
type Standing = 'draft' | 'open' | 'failing' | 'written off' | 'paid' | 'void';

/** The invoice of a subscription's first period is the first. */
export function periodInvoices(source: Source, agreement: Agreement): InvoiceRow[] {
  const { customer, begins, months, row, byInvoice } = agreement;
  const free = row.status === 'trialing' || row.status === 'paused';
  const starts: Date[] = [];
  const until = agreement.endedAt ?? agreement.periodEnd;
  for (
    let at = begins;
    at < until && !(free && starts.length > 0);
    at = addMonths(begins, months * starts.length)
  ) {
    starts.push(at);
  }
  return starts.map((created, i) => {
    const bill = {
      customer,
      stripeId: row.stripe_customer_id,
      created,
      byInvoice,
      netMinor: free ? 0 : agreement.netMinor,
    };
    const standing = standingOf(source, agreement, i === starts.length - 1 && !free);
    return { ...stripeInvoice(source, bill, standing), subscription_id: row.id };
  });
}

function standingOf({ chance }: Source, { row, byInvoice }: Agreement, isLast: boolean): Standing {
  if (!isLast)
    return row.status === 'trialing' || row.status === 'paused' || chance.happens(0.97) ? 'paid' : 'void';
  switch (row.status) {
    case 'unpaid':
      return chance.happens(0.5) ? 'written off' : 'failing';
    case 'past_due':
    case 'incomplete':
      return 'failing';
    case 'cancelled':
      return chance.happens(0.15) ? 'written off' : 'paid';
    default:
      return byInvoice && chance.happens(0.7) ? 'open' : 'paid';
  }
}

/** A row as sync would have written it. */
export function stripeInvoice(source: Source, bill: Bill, standing: Standing): InvoiceRow {
  const { chance, calendar } = source;
  const { customer, stripeId, netMinor, created, byInvoice } = bill;
  const invoice_date = calendar.dateOf(created);
  const due_date =
    byInvoice && standing !== 'draft' ? addDays(invoice_date, chance.pick([14, 14, 30])) : null;
  const stands = standing === 'open' && !mayBeOpen(due_date, calendar) ? 'paid' : standing;
  const failed =
    stands === 'failing' || stands === 'written off' || (stands === 'paid' && chance.happens(0.03));
  const payment_failed_at = failed && netMinor > 0 ? addSeconds(created, HOUR) : null;
  const paid_at = stands === 'paid' ? paidAt() : null;
  const known = paid_at ?? payment_failed_at ?? addSeconds(created, stands === 'draft' ? 0 : HOUR);
  const row = invoiceRow(customer, netMinor, {
    status: statusOf(stands, due_date, calendar.today),
    invoice_date,
    due_date,
    ...(paid_at && { paid_at }),
  });
  const offStripe = stands === 'paid' && byInvoice && !failed && chance.happens(0.08);
  return {
    ...row,
    payment_failed_at,
    uncollectible: stands === 'written off',
    amount_off_stripe: offStripe ? row.total : '0',
    stripe_customer_id: stripeId,
    stripe_invoice_id: chance.fill('in_1***********************'),
    stripe_synced_at: addSeconds(known, chance.int(2, 9)),
    provider_as_of: known,
  };

  function paidAt(): Date {
    if (netMinor === 0) return created;
    const latest = calendar.instant(-SAFE_DAYS, 0).getTime();
    const days = Math.floor((latest - created.getTime()) / 1000 / DAY);
    const wait = byInvoice ? chance.int(2, 20) : failed ? chance.int(3, 7) : 0;
    return addSeconds(created, Math.max(0, Math.min(wait, days)) * DAY + HOUR + chance.int(5, 90));
  }
}

/** Left out are those that fall due within the week: they would become overdue while one looks on. */
function mayBeOpen(dueDate: string | null, { today }: { today: string }): dueDate is string {
  return dueDate !== null && (dueDate < today || dueDate >= addDays(today, 7));
}

function statusOf(standing: Standing, dueDate: string | null, today: string): InvoiceRow['status'] {
  switch (standing) {
    case 'open':
    case 'failing':
    case 'written off': {
      const paymentFailed = standing === 'failing';
      return unpaidStatus(
        { due_date: dueDate, paymentFailed, uncollectible: standing === 'written off' },
        today,
      );
    }
    case 'void':
      return 'cancelled';
    default:
      return standing;
  }
}
