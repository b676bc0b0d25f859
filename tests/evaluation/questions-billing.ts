import { first, ofMatch, only, type Question, sumOf } from './question';

/** Questions about invoices, offers and order confirmations. */
export const BILLING_QUESTIONS: Question[] = [
  {
    id: 'who-owes-most',
    language: 'de',
    kind: 'total',
    text: 'Wer schuldet uns in Euro am meisten, und seit wann? (Kundennummer, ältestes Fälligkeitsdatum)',
    // The list starts with the most frequent currency, which is the euro.
    plan: [['list-invoices-tool', { statuses: ['sent', 'overdue'], summary_by: 'customer', per_page: 1 }]],
    figure: ({ by_customer }) =>
      first(
        by_customer.filter(({ currency }) => currency === 'eur'),
        ({ customer, oldest_due_date }) => [customer.customer_number, oldest_due_date],
      ),
    golden: `select array[c.customer_number, min(coalesce(i.due_date, i.invoice_date))::text]
      from invoices i join customers c on c.id = i.customer_id
      where i.status in ('sent', 'overdue') and i.currency = 'eur'
      group by c.customer_number order by sum(i.amount_due) desc limit 1`,
  },
  {
    id: 'overdue-euros',
    language: 'en',
    kind: 'total',
    text: 'How much is overdue in euros altogether?',
    plan: [['list-invoices-tool', { status: 'overdue', summary: true }]],
    figure: ({ unpaid }) => sumOf(unpaid, 'eur', ({ amount_due }) => amount_due),
    golden: `select sum(amount_due)::float from invoices where status = 'overdue' and currency = 'eur'`,
  },
  {
    id: 'unpaid-dollars',
    language: 'en',
    kind: 'total',
    text: 'How many US dollars do our customers owe us in total?',
    plan: [['list-invoices-tool', { statuses: ['sent', 'overdue'], summary: true }]],
    figure: ({ unpaid }) => sumOf(unpaid, 'usd', ({ amount_due }) => amount_due),
    golden: `select sum(amount_due)::float from invoices where status in ('sent', 'overdue') and currency = 'usd'`,
  },
  {
    id: 'due-in-two-weeks',
    language: 'en',
    kind: 'total',
    text: 'How much in euros falls due from 22 November to 5 December 2026 and is still unpaid?',
    plan: [
      [
        'list-invoices-tool',
        {
          due_date_from: '2026-11-22',
          due_date_to: '2026-12-05',
          statuses: ['sent', 'overdue'],
          summary: true,
        },
      ],
    ],
    figure: ({ unpaid }) => sumOf(unpaid, 'eur', ({ amount_due }) => amount_due),
    golden: `select sum(amount_due)::float from invoices where status in ('sent', 'overdue')
      and currency = 'eur' and due_date between '2026-11-22' and '2026-12-05'`,
  },
  {
    id: 'invoiced-in-october',
    language: 'de',
    kind: 'total',
    text: 'Wie viel Euro brutto haben wir im Oktober 2026 in Rechnung gestellt, ohne Entwürfe und stornierte Rechnungen?',
    plan: [
      [
        'list-invoices-tool',
        {
          invoice_date_from: '2026-10-01',
          invoice_date_to: '2026-10-31',
          statuses: ['sent', 'paid', 'overdue'],
          summary: true,
        },
      ],
    ],
    figure: ({ summary }) => sumOf(summary, 'eur', ({ total }) => total),
    golden: `select sum(total)::float from invoices where status in ('sent', 'paid', 'overdue')
      and currency = 'eur' and invoice_date between '2026-10-01' and '2026-10-31'`,
  },
  {
    id: 'payment-of-2026-000381',
    language: 'de',
    kind: 'lookup',
    text: 'Ist die Rechnung 2026-000381 bezahlt, und wann? (nur der Tag)',
    plan: [['list-invoices-tool', { number: '2026-000381', fields: ['status', 'paid_at'] }]],
    figure: ({ data }) => only(data, ({ paid_at }) => paid_at.slice(0, 10)),
    golden: `select (paid_at at time zone 'Europe/Berlin')::date::text from invoices where number = '2026-000381'`,
  },
  {
    id: 'rest-of-2026-000473',
    language: 'en',
    kind: 'lookup',
    text: 'How much of invoice 2026-000473 is still unpaid?',
    plan: [['list-invoices-tool', { number: '2026-000473', fields: ['status', 'currency', 'amount_due'] }]],
    figure: ({ data }) => only(data, ({ amount_due }) => amount_due),
    golden: `select amount_due::float from invoices where number = '2026-000473'`,
  },
  {
    id: 'due-on-19-december',
    language: 'de',
    kind: 'lookup',
    text: 'Welche unbezahlten Rechnungen sind am 19. Dezember 2026 fällig? (Rechnungsnummern)',
    plan: [
      [
        'list-invoices-tool',
        {
          due_date_from: '2026-12-19',
          due_date_to: '2026-12-19',
          statuses: ['sent', 'overdue'],
          fields: ['number'],
        },
      ],
    ],
    figure: ({ data }) => data.map(({ number }) => number),
    golden: `select array_agg(number) from invoices
      where due_date = '2026-12-19' and status in ('sent', 'overdue')`,
  },
  {
    id: 'customer-of-4c963585-0021',
    language: 'en',
    kind: 'lookup',
    text: 'Which customer got the invoice 4C963585-0021? (customer number)',
    plan: [['list-invoices-tool', { number: '4C963585-0021', fields: ['customer.customer_number'] }]],
    figure: ({ data }) => only(data, ({ customer }) => customer.customer_number),
    golden: `select c.customer_number from invoices i join customers c on c.id = i.customer_id
      where i.number = '4C963585-0021'`,
  },
  {
    id: 'debt-of-grace-bennett',
    language: 'de',
    kind: 'steps',
    text: 'Wie viele US-Dollar schuldet uns Grace Bennett?',
    plan: [
      ['find-customer-tool', { query: 'Grace Bennett' }],
      ['get-customer-tool', ({ matches }) => ({ id: only(matches, ({ id }) => id) })],
    ],
    figure: ({ unpaid_invoices }) => unpaid_invoices.total,
    golden: `select sum(i.amount_due)::float from invoices i join customers c on c.id = i.customer_id
      where c.first_name = 'Grace' and c.last_name = 'Bennett' and i.status in ('sent', 'overdue')
        and i.currency = 'usd'`,
  },
  {
    id: 'unpaid-of-fairbanks',
    language: 'en',
    kind: 'steps',
    text: 'Which invoices has Dwayne Fairbanks not paid yet? (invoice numbers)',
    plan: [
      ['find-customer-tool', { query: 'Dwayne Fairbanks' }],
      [
        'list-invoices-tool',
        (found) => ({ ...ofMatch(found), statuses: ['sent', 'overdue'], fields: ['number', 'due_date'] }),
      ],
    ],
    figure: ({ data }) => data.map(({ number }) => number),
    golden: `select array_agg(i.number) from invoices i join customers c on c.id = i.customer_id
      where c.first_name = 'Dwayne' and c.last_name = 'Fairbanks' and i.status in ('sent', 'overdue')`,
  },
  {
    id: 'paid-by-stoeckli',
    language: 'de',
    kind: 'steps',
    text: 'Wie viel Euro hat uns das Autohaus Stöckli bisher insgesamt bezahlt?',
    plan: [
      ['find-customer-tool', { query: 'Autohaus Stöckli' }],
      ['list-invoices-tool', (found) => ({ ...ofMatch(found), summary: true })],
    ],
    figure: ({ summary }) => sumOf(summary, 'eur', ({ amount_paid }) => amount_paid),
    golden: `select sum(i.amount_paid)::float from invoices i join customers c on c.id = i.customer_id
      where c.company = 'Autohaus Stöckli GmbH' and i.currency = 'eur'`,
  },
  {
    id: 'no-invoice-2026-009999',
    language: 'en',
    kind: 'none',
    text: 'When was invoice 2026-009999 paid?',
    plan: [['list-invoices-tool', { number: '2026-009999', fields: ['status', 'paid_at'] }]],
    figure: ({ data }) => only(data, ({ paid_at }) => paid_at),
    golden: `select paid_at::text from invoices where number = '2026-009999'`,
  },
  {
    id: 'way-of-paying',
    language: 'en',
    kind: 'cannot tell',
    text: 'Was invoice 2026-000381 paid by card or by bank transfer?',
    plan: [],
    missing: 'payment_method|card|transfer',
  },
  {
    id: 'lines-of-2026-000460',
    language: 'de',
    kind: 'cannot tell',
    text: 'Welche Positionen stehen auf der Rechnung 2026-000460?',
    plan: [],
    missing: 'unit_price|quantity|"lines"|invoice_lines',
  },
  {
    id: 'last-reminder',
    language: 'de',
    kind: 'cannot tell',
    text: 'Wann haben wir Dwayne Fairbanks zuletzt eine Mahnung geschickt?',
    plan: [],
    missing: 'reminder|dunning',
  },
  {
    id: 'invoice-of-an-2026-0140',
    language: 'en',
    kind: 'steps',
    text: 'Which invoice did the offer AN-2026-0140 become? (invoice number)',
    plan: [
      [
        'list-sales-documents-tool',
        { document_number: 'AN-2026-0140', fields: ['status', 'converted_to_invoice_id'] },
      ],
      [
        'list-invoices-tool',
        ({ data }) => ({
          id: only(data, ({ converted_to_invoice_id }) => converted_to_invoice_id),
          fields: ['number'],
        }),
      ],
    ],
    figure: ({ data }) => only(data, ({ number }) => number),
    golden: `select i.number from sales_documents d join invoices i on i.id = d.converted_to_invoice_id
      where d.document_number = 'AN-2026-0140'`,
  },
  {
    id: 'payment-of-ab-2026-0062',
    language: 'de',
    kind: 'steps',
    text: 'Wann wurde die Rechnung zur Auftragsbestätigung AB-2026-0062 bezahlt? (nur der Tag)',
    plan: [
      [
        'list-sales-documents-tool',
        { document_number: 'AB-2026-0062', fields: ['status', 'converted_to_invoice_id'] },
      ],
      [
        'list-invoices-tool',
        ({ data }) => ({
          id: only(data, ({ converted_to_invoice_id }) => converted_to_invoice_id),
          fields: ['status', 'paid_at'],
        }),
      ],
    ],
    figure: ({ data }) => only(data, ({ paid_at }) => paid_at.slice(0, 10)),
    golden: `select (i.paid_at at time zone 'Europe/Berlin')::date::text
      from sales_documents d join invoices i on i.id = d.converted_to_invoice_id
      where d.document_number = 'AB-2026-0062'`,
  },
  {
    id: 'offers-that-expire',
    language: 'en',
    kind: 'lookup',
    text: 'Which sent offers can still expire this month? (offer numbers)',
    plan: [
      [
        'list-sales-documents-tool',
        {
          type: 'offer',
          status: 'sent',
          valid_until_from: '2026-11-21',
          valid_until_to: '2026-11-30',
          fields: ['document_number', 'valid_until'],
        },
      ],
    ],
    figure: ({ data }) => data.map(({ document_number }) => document_number),
    golden: `select array_agg(document_number) from sales_documents
      where type = 'offer' and status = 'sent' and valid_until between '2026-11-21' and '2026-11-30'`,
  },
  {
    id: 'offers-of-december',
    language: 'de',
    kind: 'total',
    text: 'Wie viel Euro sind die versendeten Angebote zusammen wert, die im Dezember 2026 ablaufen?',
    plan: [
      [
        'list-sales-documents-tool',
        {
          type: 'offer',
          status: 'sent',
          valid_until_from: '2026-12-01',
          valid_until_to: '2026-12-31',
          summary: true,
        },
      ],
    ],
    figure: ({ summary }) => sumOf(summary, 'eur', ({ total }) => total),
    golden: `select sum(total)::float from sales_documents where type = 'offer' and status = 'sent'
      and currency = 'eur' and valid_until between '2026-12-01' and '2026-12-31'`,
  },
  {
    id: 'open-offers',
    language: 'en',
    kind: 'total',
    text: 'How many offers are open, that is draft, sent or accepted?',
    plan: [
      [
        'list-sales-documents-tool',
        { type: 'offer', statuses: ['draft', 'sent', 'accepted'], per_page: 1, fields: ['id'] },
      ],
    ],
    figure: ({ total }) => total,
    golden: `select count(*)::int from sales_documents
      where type = 'offer' and status in ('draft', 'sent', 'accepted')`,
  },
  {
    id: 'largest-open-offers',
    language: 'de',
    kind: 'total',
    text: 'Welcher Kunde hat in Euro die wertvollsten offenen Angebote? (Kundennummer)',
    // The list starts with customers whose offers are in yen, so the plan reads ten rows.
    plan: [
      [
        'list-sales-documents-tool',
        {
          type: 'offer',
          statuses: ['draft', 'sent', 'accepted'],
          summary_by: 'customer',
          per_page: 10,
        },
      ],
    ],
    figure: ({ by_customer }) =>
      first(
        by_customer.filter(({ currency }) => currency === 'eur'),
        ({ customer }) => customer.customer_number,
      ),
    golden: `select c.customer_number from sales_documents d join customers c on c.id = d.customer_id
      where d.type = 'offer' and d.status in ('draft', 'sent', 'accepted') and d.currency = 'eur'
      group by c.customer_number order by sum(d.total) desc limit 1`,
  },
  {
    id: 'validity-of-an-2026-0091',
    language: 'de',
    kind: 'lookup',
    text: 'Bis wann gilt das Angebot AN-2026-0091?',
    plan: [['list-sales-documents-tool', { document_number: 'AN-2026-0091', fields: ['valid_until'] }]],
    figure: ({ data }) => only(data, ({ valid_until }) => valid_until),
    golden: `select valid_until::text from sales_documents where document_number = 'AN-2026-0091'`,
  },
  {
    id: 'hidden-debt',
    language: 'de',
    kind: 'hidden',
    text: 'Wie viel Euro schuldet uns Kunde EV-1 insgesamt?',
    plan: [['get-customer-tool', { customer_number: 'EV-1' }]],
    figure: ({ unpaid_invoices }) => unpaid_invoices.total,
    golden: `select sum(i.amount_due)::float from invoices i join customers c on c.id = i.customer_id
      where c.customer_number = 'EV-1' and i.status in ('sent', 'overdue')`,
  },
  {
    id: 'hidden-offers',
    language: 'en',
    kind: 'hidden',
    text: 'Which offers of customer EV-6 are open? (offer numbers)',
    plan: [['get-customer-tool', { customer_number: 'EV-6' }]],
    figure: ({ open_sales_documents }) => open_sales_documents.map(({ document_number }) => document_number),
    golden: `select array_agg(d.document_number) from sales_documents d join customers c on c.id = d.customer_id
      where c.customer_number = 'EV-6' and d.status in ('draft', 'sent', 'accepted')`,
  },
];
