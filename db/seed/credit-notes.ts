import { addDays } from '@/lib/dates';
import { fromMinorUnits, toMinorUnits } from '@/lib/money';
import {
  createCounters,
  daysBetween,
  type InvoiceRow,
  OFFICE_HOURS,
  type SeedContext,
  type SeedRows,
} from './rows';

type Line = SeedRows['invoice_lines'][number];
type Note = SeedRows['credit_notes'][number];

const CREDITED = 6;
const CANCELLED = 2;
const REASONS = ['Server was down for a day', 'Price agreed on the phone', 'Ordered twice'];

/**
 * Builds credit notes for the first line of the latest paid invoices outside Stripe, and cancellations of the latest
 * cancelled invoices. Older cancelled invoices have no cancellation, as if an earlier release had cancelled them.
 */
export function buildCreditNotes(
  { chance, calendar }: SeedContext,
  invoices: InvoiceRow[],
  lines: Line[],
): Pick<SeedRows, 'invoices' | 'credit_notes' | 'credit_note_lines'> {
  const next = createCounters();
  const latest = (status: InvoiceRow['status'], count: number) =>
    invoices
      .filter((one) => one.stripe_invoice_id === null && one.status === status && Number(one.total) > 0)
      .slice(-count);
  const made = [...latest('paid', CREDITED), ...latest('cancelled', CANCELLED)]
    .map((invoice) => ({ invoice, date: dateFor(invoice.invoice_date) }))
    .toSorted((a, b) => a.date.localeCompare(b.date))
    .map(({ invoice, date }, i) => toNote(invoice, date, i + 1));
  const credited = new Map(
    made.flatMap(({ note }) => (note.kind === 'credit_note' ? [[note.invoice_id, note.total]] : [])),
  );
  return {
    invoices: invoices.map((row) => ({
      ...row,
      amount_credited: credited.get(row.id) ?? row.amount_credited,
    })),
    credit_notes: made.map(({ note }) => note),
    credit_note_lines: made.flatMap(({ its }) => its).map((line, i) => ({ ...line, id: i + 1 })),
  };

  /** Returns a day 2 to 14 days after the invoice, but not after today. */
  function dateFor(invoiceDate: string): string {
    const date = addDays(invoiceDate, chance.int(2, 14));
    return [date, calendar.today].sort()[0] ?? date;
  }

  function toNote(invoice: InvoiceRow, date: string, id: number) {
    const { customer_id, currency, status } = invoice;
    const year = date.slice(0, 4);
    const isWhole = status === 'cancelled';
    const all = lines.filter(({ invoice_id }) => invoice_id === invoice.id);
    const its = (isWhole ? all : all.slice(0, 1)).map(({ invoice_id: _, position, ...line }, i) => ({
      ...line,
      ...{ position: i + 1, invoice_position: position, credit_note_id: id },
    }));
    const { rates, ...sums } = sumsOf(its, currency);
    const note: Note = {
      ...{ id, customer_id, date, currency, rates, ...sums },
      number: `GS-${year}-${String(next(year)).padStart(4, '0')}`,
      kind: isWhole ? 'cancellation' : 'credit_note',
      invoice_id: invoice.id,
      reason: isWhole ? null : chance.pick(REASONS),
      // If a field of a party is missing here, the document uses the current data of the company or the customer.
      ...{ seller: {}, buyer: {} },
      ...{ stripe_credit_note_id: null, voided_at: null, stripe_lines: null, to_balance: null },
      created_at: calendar.instant(
        -daysBetween(date, calendar.today),
        chance.int(OFFICE_HOURS.from, OFFICE_HOURS.to),
      ),
    };
    return { note, its };
  }
}

/** Sums the credited lines of an invoice. All lines of a sample invoice have the same tax rate. */
function sumsOf(lines: Pick<Line, 'quantity' | 'unit_price' | 'tax_rate'>[], currency: string) {
  const tax_rate = lines[0]?.tax_rate ?? '0.00';
  const net = lines.reduce(
    (sum, one) => sum + toMinorUnits(one.unit_price, currency) * Number(one.quantity),
    0,
  );
  const tax = Math.round((net * Number(tax_rate)) / 100);
  const text = (minor: number) => Number(fromMinorUnits(minor, currency)).toFixed(3);
  return {
    ...{ subtotal: text(net), tax: text(tax), total: text(net + tax) },
    rates: [{ tax_rate, net: text(net), tax: text(tax) }],
  };
}
