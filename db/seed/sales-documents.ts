import { addDays } from '@/lib/dates';
import { CATALOGUE, priceIn } from './catalogue';
import { amountsOf } from './lines';
import {
  type CustomerRow,
  createCounters,
  daysBetween,
  type InvoiceRow,
  type SalesDocumentRow,
  type SeedContext,
} from './rows';

type Type = SalesDocumentRow['type'];
type Status = SalesDocumentRow['status'];

const HISTORY_DAYS = 3 * 365;
const VALID_DAYS = 30;
const STATUS_WEIGHTS: Record<Type, Record<Exclude<Status, 'converted'>, number>> = {
  offer: { draft: 10, sent: 15, accepted: 25, rejected: 25, expired: 25 },
  order_confirmation: { draft: 15, sent: 30, accepted: 35, rejected: 12, expired: 8 },
};
const PREFIX = { offer: 'AN', order_confirmation: 'AB' };

export function buildSalesDocuments(
  source: SeedContext,
  customers: CustomerRow[],
  invoices: InvoiceRow[],
  count: number,
): SalesDocumentRow[] {
  const { chance } = source;
  const billed = invoices.filter(
    ({ status, stripe_invoice_id }) =>
      stripe_invoice_id === null && status !== 'draft' && status !== 'cancelled',
  );
  const converted = chance.shuffle(billed).slice(0, Math.floor(count * 0.35));
  const prospects = customers.filter(({ status }) => status === 'active');
  return numbered([
    ...converted.map((invoice) => convertedDocument(source, invoice)),
    ...Array.from({ length: count - converted.length }, () => openDocument(source, chance.pick(prospects))),
  ]);
}

function convertedDocument({ chance, calendar }: SeedContext, invoice: InvoiceRow): SalesDocumentRow {
  const { customer_id, currency, subtotal, tax, total } = invoice;
  const type = chance.weighted({ offer: 40, order_confirmation: 60 });
  const earliest = daysBetween(calendar.day(-HISTORY_DAYS), invoice.invoice_date);
  const document_date = addDays(invoice.invoice_date, -Math.min(chance.int(0, 21), earliest));
  return {
    ...documentOf(type, 'converted', document_date),
    ...{ customer_id, currency, subtotal, tax, total },
    converted_to_invoice_id: invoice.id,
  };
}

function openDocument({ chance, calendar }: SeedContext, customer: CustomerRow): SalesDocumentRow {
  const type = chance.weighted({ offer: 66, order_confirmation: 34 });
  const status = chance.weighted(STATUS_WEIGHTS[type]);
  const product = chance.pick(CATALOGUE[chance.pick(['hosting', 'server', 'license', 'service'] as const)]);
  const netMinor = priceIn(customer.currency, product.cents) * chance.pick([1, 2, 3, 6, 12, 12, 24]);
  return {
    ...documentOf(type, status, calendar.day(-ageOf())),
    customer_id: customer.id,
    ...amountsOf(customer, netMinor),
  };

  function ageOf(): number {
    if (status === 'draft') return chance.int(0, 14);
    if (status === 'sent') return chance.int(0, VALID_DAYS - 5);
    return chance.int(status === 'expired' ? VALID_DAYS + 1 : 3, HISTORY_DAYS);
  }
}

function documentOf(type: Type, status: Status, document_date: string) {
  return {
    id: 0,
    document_number: '',
    type,
    status,
    document_date,
    // An order confirmation has no end of validity, unless it expired without an answer.
    valid_until: type === 'offer' || status === 'expired' ? addDays(document_date, VALID_DAYS) : null,
    converted_to_invoice_id: null,
    converted_to_document_id: null,
  };
}

/** Numbers documents by date, per year and type, such as `AN-2026-0001`. */
function numbered(documents: SalesDocumentRow[]): SalesDocumentRow[] {
  const next = createCounters();
  return documents
    .toSorted((a, b) => a.document_date.localeCompare(b.document_date))
    .map((document, i) => {
      const series = `${PREFIX[document.type]}-${document.document_date.slice(0, 4)}`;
      const document_number = `${series}-${String(next(series)).padStart(4, '0')}`;
      return { ...document, id: i + 1, document_number };
    });
}
