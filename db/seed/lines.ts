import { toMinorUnits } from '@/lib/money';
import { amountText, CATALOGUE, type Client } from './catalogue';
import { placeOf } from './names';
import type {
  CustomerRow,
  InvoiceLineRow,
  InvoiceRow,
  SalesDocumentLineRow,
  SalesDocumentRow,
  Source,
} from './rows';

/** How many lines make up a net. */
const LINES = { 1: 55, 2: 30, 3: 15 };
const QUANTITIES = [1, 1, 1, 2, 3, 6, 12];

/** The lines of our own invoices. Of Stripe's invoices only the sums are stored, as sync does it. */
export function buildInvoiceLines(
  source: Source,
  clients: Client[],
  invoices: InvoiceRow[],
): InvoiceLineRow[] {
  const own = invoices.filter(({ stripe_invoice_id }) => stripe_invoice_id === null);
  return linesOf(source, clients, own).map(({ owner, ...line }, i) => ({
    ...line,
    id: i + 1,
    invoice_id: owner,
  }));
}

export function buildSalesDocumentLines(
  source: Source,
  clients: Client[],
  documents: SalesDocumentRow[],
): SalesDocumentLineRow[] {
  return linesOf(source, clients, documents).map(({ owner, ...line }, i) => ({
    ...line,
    id: i + 1,
    sales_document_id: owner,
  }));
}

type Owner = Pick<InvoiceRow, 'id' | 'customer_id' | 'currency' | 'subtotal'>;

/** Lines whose nets add up to the subtotal that their owner has already. */
function linesOf({ chance }: Source, clients: Client[], owners: Owner[]) {
  const byId = new Map(clients.map((client) => [client.customer.id, client]));
  return owners.flatMap(({ id, customer_id, currency, subtotal }) => {
    const client = byId.get(customer_id);
    if (!client) throw new Error(`${customer_id} is nobody`);
    const names = chance.shuffle(textsOf(client));
    const tax_rate = taxRate(client.customer).toFixed(2);
    return split(toMinorUnits(subtotal, currency)).map((net, i) => {
      const quantity = chance.pick(QUANTITIES.filter((count) => net % count === 0));
      return {
        owner: id,
        position: i + 1,
        text: names[i % names.length] ?? '',
        quantity: quantity.toFixed(3),
        unit_price: amountText(net / quantity, currency),
        tax_rate,
      };
    });
  });

  /** In tens of minor units, as prices are. */
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

/** What the customer rents, and what anybody can order. */
function textsOf({ services }: Client): string[] {
  const rented = services.map(({ name, domain }) => (domain ? `${name}, ${domain}` : name));
  return rented.length >= 3 ? rented : [...rented, ...CATALOGUE.service.map(({ name }) => name)];
}

interface Opening {
  status: InvoiceRow['status'];
  invoice_date: string;
  due_date: string | null;
  /** Paid so far, in minor units; a paid invoice needs none. */
  partMinor?: number;
  paid_at?: Date;
}

/** An invoice whose amounts agree with its status; id and number come when all are known. */
export function invoiceRow(customer: CustomerRow, netMinor: number, opening: Opening): InvoiceRow {
  const { status, invoice_date, due_date } = opening;
  const { partMinor = 0, paid_at = null } = opening;
  const amounts = amountsOf(customer, netMinor);
  const total = toMinorUnits(amounts.total, customer.currency);
  const paid = status === 'paid' ? total : partMinor;
  return {
    id: 0,
    number: null,
    customer_id: customer.id,
    subscription_id: null,
    status,
    invoice_date,
    due_date,
    ...amounts,
    amount_paid: amountText(paid, customer.currency),
    amount_due: amountText(status === 'cancelled' ? 0 : total - paid, customer.currency),
    paid_at,
    payment_failed_at: null,
    uncollectible: false,
    amount_off_stripe: null,
    amount_credited: '0',
    balance_applied: null,
    collected_by_payment_id: null,
    stripe_invoice_id: null,
    stripe_customer_id: null,
    stripe_synced_at: null,
    provider_as_of: null,
    provider_gone_at: null,
    recheck_at: null,
  };
}

/** Net, tax and gross as our columns take them. */
export function amountsOf(customer: CustomerRow, netMinor: number) {
  const { currency } = customer;
  const tax = Math.round((netMinor * taxRate(customer)) / 100);
  return {
    currency,
    subtotal: amountText(netMinor, currency),
    tax: amountText(tax, currency),
    total: amountText(netMinor + tax, currency),
  };
}

/** Per cent. Companies elsewhere in the Union pay it at home (reverse charge), others outside not at all. */
function taxRate({ country, vat_id, tax_exempt }: CustomerRow): number {
  const { vatRate } = placeOf(country);
  if (tax_exempt || vatRate === null) return 0;
  return country !== 'DE' && vat_id ? 0 : vatRate;
}
