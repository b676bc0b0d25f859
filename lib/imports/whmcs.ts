import { toThousandths } from '../money';
import { namesStripeMoney } from '../payments/stripe-payment';
import type { DecimalSeparator } from '../read-amount';
import type { FileFormat, Reports, Translated } from './file-format';
import { type CellValue, readCell } from './read-cell';

/**
 * Formats of WHMCS's reports by kind of record (Reports > Exports, Tools > Export to CSV):
 * https://docs.whmcs.com/Reports
 */
export const WHMCS = {
  customers: [() => whmcsClients],
  services: [() => whmcsServices, () => whmcsDomains],
  invoices: [() => whmcsInvoices],
  payments: [whmcsTransactions],
} satisfies Record<string, Reports>;

/** Removes the time from a date. Returns '' for a date such as 0000-00-00. */
const day = (cell: string) => (/^0000-00-00|^00\.00\.0000/.test(cell) ? '' : cell.slice(0, 10));

/** Adds up amounts. An empty cell counts as 0. Returns a problem if a cell is not an amount or currencies differ. */
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

/** Returns true if a cell contains an amount greater than 0. */
function isMore(cell: string, separator: DecimalSeparator | undefined): boolean {
  const read = sumOf([cell], separator);
  return 'value' in read && Number(read.value) > 0;
}

/** Makes the import key for a WHMCS id of an invoice or a transaction. Returns '' for an empty cell or 0. */
const keyOf = (id: string) => (Number(id) === 0 ? '' : `whmcs-${id.trim()}`);

const oneOf =
  (values: Record<string, string>) =>
  (cell: string): string =>
    values[cell.trim().toLowerCase()] ?? cell;

/** Reads a currency code. Old reports contain a number instead, whose meaning depends on the WHMCS installation. */
function currency(cell: string): Translated {
  const code = cell.trim().toLowerCase();
  if (!/^\d+$/.test(code)) return code;
  const advice = 'leave the column out with --map Currency= and name the currency with --set currency=usd';
  return { problem: `is ${code}, the number of a currency in WHMCS: ${advice}` };
}

const ENTITIES: Record<string, string> = { amp: '&', quot: '"', lt: '<', gt: '>', '#039': "'", '#39': "'" };

/** Decodes HTML entities. WHMCS stores and exports its texts with entities. */
const decode = (cell: string): string =>
  cell.replace(/&(amp|quot|lt|gt|#0?39);/g, (entity, name: string) => ENTITIES[name] ?? entity);

/** The escaping of texts in all WHMCS reports. */
const texts = { decode, doublesAllQuotes: true };

/** Report of clients, identified by their WHMCS id. */
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

/** Columns, values and status translations that the reports of services and of domains share. */
const billed = {
  columns: {
    'user id': 'customer_number',
    'recurring amount': 'price',
    'registration date': 'start_date',
    'next due date': 'next_billing_date',
    status: 'status',
  },
  values: { start_date: day, next_billing_date: day },
  statuses: { pending: 'order', active: 'active', cancelled: 'cancelled', fraud: 'cancelled' },
};

/** Report of services, identified by their WHMCS id. The report contains the id of a product, but not its name. */
const whmcsServices: FileFormat = {
  ...texts,
  columns: {
    ...billed.columns,
    id: 'service_number',
    'domain name': 'domain',
    'product id': 'name',
    'billing cycle': 'billing_interval',
  },
  values: {
    ...billed.values,
    name: (id) => `WHMCS product ${id.trim()}`,
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
      ...billed.statuses,
      ...{ suspended: 'suspended', terminated: 'terminated', completed: 'terminated' },
    }),
  },
  constants: { service_type: 'hosting' },
};

const YEARS: Record<string, string> = { '1': 'year', '2': 'two_years', '3': 'three_years' };

/** Report of domains. WHMCS numbers them separately from services, so the import adds a prefix: `domain-7`. */
const whmcsDomains: FileFormat = {
  ...texts,
  columns: billed.columns,
  derived: {
    service_number: {
      sources: ['id'],
      value: ([id = '']) => (Number(id) === 0 ? '' : `domain-${id.trim()}`),
    },
    domain: { sources: ['domain name'], value: ([name = '']) => name },
    name: { sources: ['domain name'], value: ([name = '']) => name },
    billing_interval: {
      sources: ['registration period'],
      value: ([years = '']) =>
        YEARS[years.trim()] ?? { problem: `is ${years.trim()} years: only 1, 2 or 3 can be billed at once` },
    },
  },
  values: {
    ...billed.values,
    status: oneOf({
      ...billed.statuses,
      'pending registration': 'order',
      'pending transfer': 'order',
      grace: 'suspended',
      'grace period': 'suspended',
      redemption: 'suspended',
      'redemption period': 'suspended',
      expired: 'terminated',
      'transferred away': 'terminated',
    }),
  },
  constants: { service_type: 'domain' },
};

const hasStatus = (wanted: string, status: string) => status.trim().toLowerCase() === wanted;

/**
 * Report of invoices, identified by the WHMCS id that transactions refer to. The invoices keep their WHMCS number.
 * WHMCS subtracts the applied credit from the total, so the import adds the credit back. A refunded invoice is imported
 * as cancelled, with nothing due.
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
    import_key: { sources: ['id'], value: ([id = '']) => keyOf(id) },
    // A draft has no number yet. If WHMCS does not number invoices, customers see the id instead.
    number: {
      sources: ['invoice number', 'id', 'status'],
      value: ([number = '', id = '', status = '']) =>
        hasStatus('draft', status) ? '' : number.trim() || id.trim(),
    },
    tax: { sources: ['tax', 'tax2'], value: sumOf },
    total: { sources: ['total', 'credit'], value: sumOf },
    amount_paid: {
      sources: ['status', 'credit'],
      value: ([status = '', credit = ''], separator) =>
        isOpen(status) && isMore(credit, separator) ? sumOf([credit], separator) : '',
    },
    paid_at: {
      sources: ['date paid', 'status'],
      value: ([paid = '', status = '']) => (hasStatus('paid', status) ? day(paid) : ''),
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
  ['unpaid', 'payment pending', 'collections'].some((one) => hasStatus(one, status));

/**
 * Report of transactions. Incoming money is a payment of an invoice. Outgoing money with a refund id refunds the
 * earlier transaction with this id. The report lists the oldest transaction first, so the reference of a refunded
 * transaction is already known. Payments without an invoice are refused.
 */
function whmcsTransactions(): FileFormat {
  const references = new Map<string, string>();
  return {
    ...texts,
    columns: { currency: 'currency', date: 'payment_date' },
    derived: {
      payment_reference: {
        sources: ['id', 'transaction id', 'amount out'],
        value: ([id = '', transaction = '', out = ''], separator) => {
          const reference = referenceOf(id, transaction.trim(), isMore(out, separator));
          references.set(id.trim(), reference);
          return reference;
        },
      },
      import_key: { sources: ['id'], value: ([id = '']) => keyOf(id) },
      invoice_import_key: { sources: ['invoice id'], value: ([id = '']) => keyOf(id) },
      customer_number: { sources: ['user id'], value: ([id = '']) => (Number(id) === 0 ? '' : id) },
      refund_of: {
        sources: ['refund id', 'amount out'],
        value: ([id = '', out = ''], separator) =>
          isMore(out, separator) ? (references.get(id.trim()) ?? keyOf(id)) : '',
      },
      amount: { sources: ['amount in', 'amount out', 'refund id'], value: amountOf },
      refunded_amount: { sources: ['amount in', 'amount out'], value: refundedAmountOf },
    },
    values: { currency, payment_date: day },
  };
}

/**
 * Returns the payment reference of a transaction. For a payment through Stripe, the reference is the Stripe id alone,
 * so that Stripe's events find the payment. Other ids may have been typed by hand and may repeat, so they are prefixed
 * with the import key.
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

/**
 * Returns the refunded amount of a payment, which is the outgoing money of a row that also has incoming money. Returns
 * '' for any other row.
 */
function refundedAmountOf(
  [paid = '', back = '']: string[],
  separator: DecimalSeparator | undefined,
): Translated {
  return isMore(paid, separator) && isMore(back, separator) ? sumOf([back], separator) : '';
}

const BOTH: CellValue = {
  problem: 'has money in both directions, and a Refund ID: enter it as two transactions',
};
const NO_REFUND: CellValue = {
  problem: 'is outgoing, but has no Refund ID to name the refunded transaction',
};
