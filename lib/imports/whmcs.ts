import { toThousandths } from '../money';
import { namesStripeMoney } from '../payments/stripe-payment';
import type { DecimalSeparator } from '../read-amount';
import type { FileFormat, Reports, Translated } from './file-format';
import { type CellValue, readCell } from './read-cell';

/**
 * The reports of WHMCS by what they hold (Reports > Exports, Tools > Export to CSV): https://docs.whmcs.com/Reports
 */
export const WHMCS = {
  customers: [() => whmcsClients],
  services: [() => whmcsServices, () => whmcsDomains],
  invoices: [() => whmcsInvoices],
  payments: [whmcsTransactions],
} satisfies Record<string, Reports>;

/** A date without its time; '' for a date of zeros. */
const day = (cell: string) => (/^0000-00-00|^00\.00\.0000/.test(cell) ? '' : cell.slice(0, 10));

/** The sum of some amounts. Empty ones count as 0. If one cannot be read, its problem is the result. */
function sumOf(cells: string[], separator: DecimalSeparator | undefined): CellValue {
  let thousandths = 0;
  let currencies: readonly string[] | null = null;
  for (const cell of cells) {
    if (cell.trim() === '') continue;
    const read = readCell(cell, 'amount', separator);
    if ('problem' in read) return read;
    thousandths += toThousandths(String(read.value));
    const own = read.currencies;
    if (own) currencies = currencies ? currencies.filter((code) => own.includes(code)) : own;
    if (currencies?.length === 0)
      return { problem: `has amounts in several currencies: ${cells.join(', ')}` };
  }
  return { value: thousandths / 1000, currencies };
}

/** Whether a cell has an amount that is more than 0. */
function isMore(cell: string, separator: DecimalSeparator | undefined): boolean {
  const read = sumOf([cell], separator);
  return 'value' in read && Number(read.value) > 0;
}

/** Our key of something that WHMCS numbers: it numbers invoices and payments apart. */
const keyOf = (id: string) => (Number(id) === 0 ? '' : `whmcs-${id.trim()}`);

const oneOf =
  (values: Record<string, string>) =>
  (cell: string): string =>
    values[cell.trim().toLowerCase()] ?? cell;

/** A currency's code. Old reports have a number in its place, which means something to that WHMCS alone. */
function currency(cell: string): Translated {
  const code = cell.trim().toLowerCase();
  if (!/^\d+$/.test(code)) return code;
  const advice = 'leave the column out with --map Currency= and name the currency with --set currency=usd';
  return { problem: `is ${code}, the number of a currency in WHMCS: ${advice}` };
}

const ENTITIES: Record<string, string> = { amp: '&', quot: '"', lt: '<', gt: '>', '#039': "'", '#39': "'" };

/** WHMCS stores texts with the entities of HTML, and reports them so. */
const decode = (cell: string): string =>
  cell.replace(/&(amp|quot|lt|gt|#0?39);/g, (entity, name: string) => ENTITIES[name] ?? entity);

/** How all reports of WHMCS write texts. */
const texts = { decode, doublesAllQuotes: true };

/** Clients, known by their ID in WHMCS. */
const whmcsClients: FileFormat = {
  ...texts,
  columns: {
    id: 'customer_number',
    'first name': 'first_name',
    'last name': 'last_name',
    'company name': 'company',
    email: 'email',
    'email address': 'email',
    'address 1': 'street',
    postcode: 'postal_code',
    city: 'city',
    country: 'country',
    'phone number': 'phone',
    'tax id': 'vat_id',
    'tax exempt': 'tax_exempt',
    currency: 'currency',
    status: 'status',
  },
  values: { currency, status: oneOf({ active: 'active', inactive: 'inactive', closed: 'inactive' }) },
};

/** Services, known by their ID in WHMCS. The report has the number of a product, not its name. */
const whmcsServices: FileFormat = {
  ...texts,
  columns: {
    id: 'service_number',
    'user id': 'customer_number',
    'domain name': 'domain',
    'product id': 'name',
    'recurring amount': 'price',
    'billing cycle': 'billing_interval',
    'registration date': 'start_date',
    'next due date': 'next_billing_date',
    status: 'status',
  },
  values: {
    name: (id) => `WHMCS product ${id.trim()}`,
    start_date: day,
    next_billing_date: day,
    billing_interval: oneOf({
      monthly: 'month',
      quarterly: 'quarter',
      'semi-annually': 'half_year',
      semiannually: 'half_year',
      annually: 'year',
      biennially: 'two_years',
      triennially: 'three_years',
      'one time': 'once',
      onetime: 'once',
      'free account': 'once',
      free: 'once',
    }),
    status: oneOf({
      pending: 'order',
      active: 'active',
      suspended: 'suspended',
      terminated: 'terminated',
      completed: 'terminated',
      cancelled: 'cancelled',
      fraud: 'cancelled',
    }),
  },
  constants: { service_type: 'hosting' },
};

const YEARS: Record<string, string> = { '1': 'year', '2': 'two_years', '3': 'three_years' };

/** Domains, which WHMCS numbers apart from services: `domain-7` is not the service 7. */
const whmcsDomains: FileFormat = {
  ...texts,
  columns: {
    'user id': 'customer_number',
    'recurring amount': 'price',
    'registration date': 'start_date',
    'next due date': 'next_billing_date',
    status: 'status',
  },
  derived: {
    service_number: { of: ['id'], value: ([id = '']) => (Number(id) === 0 ? '' : `domain-${id.trim()}`) },
    domain: { of: ['domain name'], value: ([name = '']) => name },
    name: { of: ['domain name'], value: ([name = '']) => name },
    billing_interval: {
      of: ['registration period'],
      value: ([years = '']) =>
        YEARS[years.trim()] ?? { problem: `is ${years.trim()} years: only 1, 2 or 3 can be billed at once` },
    },
  },
  values: {
    start_date: day,
    next_billing_date: day,
    status: oneOf({
      pending: 'order',
      'pending registration': 'order',
      'pending transfer': 'order',
      active: 'active',
      grace: 'suspended',
      'grace period': 'suspended',
      redemption: 'suspended',
      'redemption period': 'suspended',
      expired: 'terminated',
      'transferred away': 'terminated',
      cancelled: 'cancelled',
      fraud: 'cancelled',
    }),
  },
  constants: { service_type: 'domain' },
};

const is = (wanted: string, status: string) => status.trim().toLowerCase() === wanted;

/**
 * Invoices, known by their ID in WHMCS, which its transactions name, and numbered as there. Its total is what was left
 * after credit was taken off. Nothing is owed on a refunded one.
 */
const whmcsInvoices: FileFormat = {
  ...texts,
  columns: {
    'user id': 'customer_number',
    'creation date': 'invoice_date',
    'due date': 'due_date',
    subtotal: 'subtotal',
    status: 'status',
  },
  derived: {
    import_key: { of: ['id'], value: ([id = '']) => keyOf(id) },
    // A draft has no number yet. If invoices are not numbered, customers see the ID.
    number: {
      of: ['invoice number', 'id', 'status'],
      value: ([number = '', id = '', status = '']) => (is('draft', status) ? '' : number.trim() || id.trim()),
    },
    tax: { of: ['tax', 'tax2'], value: sumOf },
    total: { of: ['total', 'credit'], value: sumOf },
    amount_paid: {
      of: ['status', 'credit'],
      value: ([status = '', credit = ''], separator) =>
        isOpen(status) && isMore(credit, separator) ? sumOf([credit], separator) : '',
    },
    paid_at: {
      of: ['date paid', 'status'],
      value: ([paid = '', status = '']) => (is('paid', status) ? day(paid) : ''),
    },
  },
  values: {
    invoice_date: day,
    due_date: day,
    status: oneOf({
      draft: 'draft',
      unpaid: 'sent',
      'payment pending': 'sent',
      collections: 'sent',
      paid: 'paid',
      cancelled: 'cancelled',
      refunded: 'cancelled',
    }),
  },
};

const isOpen = (status: string) =>
  ['unpaid', 'payment pending', 'collections'].some((one) => is(one, status));

/**
 * Transactions: money that came in is a payment of an invoice, and money that went out for an earlier transaction is a
 * refund of it. The report has the oldest first, so that the reference of what is refunded is known. Transactions
 * without an invoice are refused.
 */
function whmcsTransactions(): FileFormat {
  const references = new Map<string, string>();
  return {
    ...texts,
    columns: { currency: 'currency', date: 'payment_date' },
    derived: {
      payment_reference: {
        of: ['id', 'transaction id', 'amount out'],
        value: ([id = '', transaction = '', out = ''], separator) => {
          const reference = referenceOf(id, transaction.trim(), isMore(out, separator));
          references.set(id.trim(), reference);
          return reference;
        },
      },
      import_key: { of: ['id'], value: ([id = '']) => keyOf(id) },
      invoice_import_key: { of: ['invoice id'], value: ([id = '']) => keyOf(id) },
      customer_number: { of: ['user id'], value: ([id = '']) => (Number(id) === 0 ? '' : id) },
      refund_of: {
        of: ['refund id', 'amount out'],
        value: ([id = '', out = ''], separator) =>
          isMore(out, separator) ? (references.get(id.trim()) ?? keyOf(id)) : '',
      },
      amount: { of: ['amount in', 'amount out', 'refund id'], value: amountOf },
      refunded_amount: { of: ['amount in', 'amount out'], value: cameBack },
    },
    values: { currency, payment_date: day },
  };
}

/**
 * The id that the gateway gave, if it is Stripe's, so that what Stripe reports of the money finds the payment. Other ids
 * may be typed by people and occur twice: they follow the key.
 */
function referenceOf(id: string, transaction: string, isRefund: boolean): string {
  return namesStripeMoney(transaction) && !isRefund ? transaction : `${keyOf(id)} ${transaction}`.trim();
}

function amountOf([paid = '', back = '', refunded = '']: string[], separator: DecimalSeparator | undefined) {
  if (!isMore(back, separator)) return sumOf([paid], separator);
  const isRefund = keyOf(refunded) !== '';
  if (isRefund && isMore(paid, separator)) return BOTH;
  if (!isRefund && !isMore(paid, separator)) return NO_REFUND;
  return sumOf([isRefund ? back : paid], separator);
}

/** Of a row with money in both directions, the part that went out came back from its own payment. */
function cameBack([paid = '', back = '']: string[], separator: DecimalSeparator | undefined): Translated {
  return isMore(paid, separator) && isMore(back, separator) ? sumOf([back], separator) : '';
}

const BOTH: CellValue = {
  problem: 'has money in both directions, and a Refund ID: enter it as two transactions',
};
const NO_REFUND: CellValue = { problem: 'went out, and no Refund ID says which transaction it refunds' };
