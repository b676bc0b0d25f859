/**
 * The script of the view. It exchanges JSON-RPC with the host over postMessage and draws the answer of a tool.
 * https://github.com/modelcontextprotocol/ext-apps/blob/main/specification/2026-01-26/apps.mdx
 *
 * It is text and not a function, because a bundler may insert calls of its own helpers into a function, and the page
 * does not contain these helpers. The script inserts texts only as text nodes, because names in an answer are
 * customers' data.
 */
export const VIEW_SCRIPT = String.raw`const host = window.parent;
const root = document.documentElement;
const main = document.querySelector('main');
const INITIALIZE = 1;
let isInitialized = false;
let context = {};
let asked = {};
let result = null;

// A sandboxed page does not know its host's origin. No message to the host contains anything from an answer.
const send = (message) => host.postMessage({ jsonrpc: '2.0', ...message }, '*');

const NOTIFICATIONS = {
  'ui/notifications/tool-input': (params) => {
    asked = params.arguments ?? {};
  },
  'ui/notifications/tool-result': (params) => {
    result = params;
  },
  'ui/notifications/tool-cancelled': ({ reason }) => {
    const text = reason ? 'The call was cancelled: ' + reason : 'The call was cancelled.';
    result = { isError: true, content: [{ type: 'text', text }] };
  },
  'ui/notifications/host-context-changed': mergeContext,
};

window.addEventListener('message', ({ source, data }) => {
  if (source !== host || data?.jsonrpc !== '2.0') return;
  if (data.method === undefined) {
    if (data.id === INITIALIZE) start(data);
  } else if (data.id !== undefined) {
    const isKnown = data.method === 'ping' || data.method === 'ui/resource-teardown';
    send({ id: data.id, ...(isKnown ? { result: {} } : { error: { code: -32601, message: 'Method not found' } }) });
  } else if (Object.hasOwn(NOTIFICATIONS, data.method)) {
    NOTIFICATIONS[data.method](data.params ?? {});
    draw();
  }
});

function start({ result: answer, error }) {
  if (error || !answer) return show(alertOf('This host could not start the view.'));
  mergeContext(answer.hostContext ?? {});
  isInitialized = true;
  send({ method: 'ui/notifications/initialized', params: {} });
  sendSize();
}

function mergeContext(changed) {
  context = { ...context, ...changed };
  if (context.theme) root.style.colorScheme = context.theme;
  for (const [name, value] of Object.entries(changed.styles?.variables ?? {}))
    if (name.startsWith('--') && typeof value === 'string') root.style.setProperty(name, value);
}

let sentHeight = 0;
function sendSize() {
  const height = Math.ceil(root.getBoundingClientRect().height);
  if (!isInitialized || height === sentHeight) return;
  sentHeight = height;
  // No width is sent, because the page fits any width.
  send({ method: 'ui/notifications/size-changed', params: { height } });
}

function draw() {
  if (!result) return;
  const text = (result.content ?? []).map((block) => block.text ?? '').join('\n');
  if (result.isError) return show(alertOf(text || 'The tool failed without a message.'));
  const answer = result.structuredContent ?? parse(text);
  try {
    show(...drawAnswer(answer, text));
  } catch {
    show(el('h1', {}, 'Answer'), el('pre', {}, text));
  }
}

function show(...parts) {
  main.replaceChildren(...parts.filter(Boolean));
  main.removeAttribute('aria-busy');
  // A browser does not run a ResizeObserver in a frame that the reader has not scrolled to.
  sendSize();
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null; // The text is not JSON. It is shown unchanged.
  }
}

function drawAnswer(answer, text) {
  const hidden = answer?.personal_data === 'masked' && note('This access hides personal data.');
  if (answer?.customer_number) return [...drawCustomer(answer), hidden];
  const head = (title) => [el('h1', {}, title), filtersOf(asked)];
  if (answer?.by_customer) {
    const { by_customer: rows } = answer;
    const title = 'By customer and currency' + rangeOf(answer, rows);
    return [...head('Invoices by customer'), table(title, BY_CUSTOMER, rows), hidden];
  }
  if (answer?.summary) {
    const unpaid = (answer.unpaid ?? []).map((sum) => [money(sum.amount_due, sum.currency), plural(sum.count, 'invoice')]);
    const sums = SUMS.filter(([key]) => !RARE.includes(key) || answer.summary.some((row) => row[key] !== 0));
    return [
      ...head('Invoice totals'),
      unpaid.length > 0 && facts([['Unpaid', unpaid.map((sum) => sum.join(', '))]]),
      table(plural(answer.total, 'invoice') + ' by currency and status', sums, answer.summary),
    ];
  }
  if (answer?.data) {
    const columns = Array.isArray(asked.fields) ? [...INVOICES, ...MORE] : INVOICES;
    return [...head('Invoices'), table('Invoices' + rangeOf(answer, answer.data), columns, answer.data), hidden];
  }
  return [el('h1', {}, 'Answer'), el('pre', {}, text)];
}

function drawCustomer(customer) {
  const { name, customer_number, status, unpaid_invoices: unpaid, services_by_status, services = [] } = customer;
  const { open_sales_documents: documents, open_tasks: tasks = [] } = customer;
  const person = [customer.first_name, customer.last_name].filter(Boolean).join(' ');
  const town = [customer.postal_code, customer.city].filter(Boolean).join(' ');
  const sums = unpaid && [unpaid, ...(unpaid.other_currencies ?? [])].filter((sum, index) => index === 0 || sum.count > 0);
  const rented = Object.entries(services_by_status ?? {}).map(([word, many]) => number(many) + ' ' + words(word));
  return [
    el('h1', {}, name || customer_number),
    el('p', { className: 'under' }, customer_number, ' ', badge(status)),
    customer.merged_from && note('Customer ' + customer.merged_from + ' was merged into this customer.'),
    facts([
      ['Unpaid', sums?.map((sum) => money(sum.total, sum.currency) + ', ' + plural(sum.count, 'invoice'))],
      ['Services', [rented.join(', ') || 'none']],
      ['Contact', person === name ? [] : [person]],
      ['E-mail', [customer.email]],
      ['Phone', [customer.phone]],
      ['Address', [customer.street, town, customer.country && placeOf(customer.country)]],
      ['VAT ID', [customer.vat_id]],
      ['Tax', customer.tax_exempt ? ['exempt'] : []],
    ]),
    tasks.length > 0 && section('Open tasks', tasks.length, tasks.length, el('ul', {}, ...tasks.map((task) => el('li', {}, task)))),
    services.length > 0 &&
      section('Active services', services.length, customer.services_total, table('Active services', SERVICES, services)),
    documents?.length > 0 &&
      section('Open offers and order confirmations', documents.length, customer.open_sales_documents_total,
        table('Open offers and order confirmations', DOCUMENTS, documents)),
  ];
}

// Each column has the key of a row's value, its heading, and the key in SHOW of the function that formats the value.
const BY_CUSTOMER = [
  ['customer', 'Customer', 'customer'], ['unpaid', 'Unpaid', 'money'], ['unpaid_count', 'Unpaid invoices', 'number'],
  ['oldest_due_date', 'Oldest due date', 'date'], ['total', 'Total', 'money'], ['count', 'Invoices', 'number'],
];
const SUMS = [
  ['status', 'Status', 'badge'], ['count', 'Invoices', 'number'],
  ['tax', 'Tax', 'money'], ['total', 'Total', 'money'], ['amount_paid', 'Paid', 'money'], ['amount_due', 'Due', 'money'],
  ['settled_by_credit', 'Settled by credit', 'money'], ['written_off', 'Written off', 'money'],
];
// The sums that are shown only if one of them is not zero.
const RARE = ['settled_by_credit', 'written_off'];
const INVOICES = [
  ['number', 'Number', 'id'], ['customer', 'Customer', 'customer'], ['status', 'Status', 'badge'],
  ['invoice_date', 'Date', 'date'], ['due_date', 'Due date', 'date'], ['total', 'Total', 'money'],
  ['amount_due', 'Amount due', 'money'],
];
// The columns that are shown only if the caller has chosen columns.
const MORE = [
  ['subtotal', 'Subtotal', 'money'], ['tax', 'Tax', 'money'], ['amount_paid', 'Paid', 'money'],
  ['paid_at', 'Paid on', 'date'], ['currency', 'Currency', 'code'], ['id', 'ID', 'id'],
  ['stripe_invoice_id', 'Stripe invoice', 'id'],
];
const SERVICES = [
  ['service_number', 'Number', 'id'], ['name', 'Name', 'text'], ['domain', 'Domain', 'text'],
  ['price', 'Price', 'money'], ['billing_interval', 'Billed', 'words'], ['next_billing_date', 'Next billing', 'date'],
];
const DOCUMENTS = [
  ['document_number', 'Number', 'id'], ['type', 'Type', 'words'], ['status', 'Status', 'badge'],
  ['document_date', 'Date', 'date'], ['valid_until', 'Valid until', 'date'], ['total', 'Total', 'money'],
];
const RIGHT = ['money', 'number'];
const UNBROKEN = ['id', 'date'];

const SHOW = {
  text: String,
  id: String,
  words,
  badge,
  date,
  code: (value) => String(value).toUpperCase(),
  money: (value, row) => money(value, row.currency),
  number,
  customer: ({ name, customer_number }) =>
    el('span', {}, name ?? '', name && customer_number ? el('br') : '', el('small', {}, customer_number ?? '')),
};

function table(title, columns, rows) {
  if (rows.length === 0) return el('p', { className: 'empty' }, 'Nothing matches.');
  const shown = columns.filter(([key]) => rows.some((row) => Object.hasOwn(row, key)));
  const classOf = (kind) => (RIGHT.includes(kind) ? 'right' : UNBROKEN.includes(kind) ? 'unbroken' : '');
  const cell = (row) => ([key, , kind], index) => {
    const value = row[key];
    const content = value === null || value === undefined || value === '' ? '–' : SHOW[kind](value, row);
    return el(index === 0 ? 'th' : 'td', { className: classOf(kind), ...(index === 0 && { scope: 'row' }) }, content);
  };
  const heads = shown.map(([, label, kind]) => el('th', { scope: 'col', className: classOf(kind) }, label));
  const lines = rows.map((row) => el('tr', {}, ...shown.map(cell(row))));
  const whole = el('table', {}, el('caption', {}, title), el('thead', {}, el('tr', {}, ...heads)), el('tbody', {}, ...lines));
  // A wide table scrolls within this element. The tab stop and the name let people scroll it by keyboard.
  return el('div', { className: 'scroll', tabIndex: 0, role: 'region', ariaLabel: title }, whole);
}

function facts(given) {
  const rows = given.map(([label, values = []]) => [label, values.filter(Boolean)]).filter(([, values]) => values.length > 0);
  const lines = (values) => values.map((value) => el('span', {}, value));
  return el('dl', {}, ...rows.map(([label, values]) => el('div', {}, el('dt', {}, label), el('dd', {}, ...lines(values)))));
}

const MOST_OPEN = 10;
function section(title, count, total, content) {
  const many = total > count ? number(count) + ' of ' + number(total) : number(count);
  const head = el('summary', {}, el('h2', {}, title + ' (' + many + ')'));
  return el('details', { open: count <= MOST_OPEN }, head, content);
}

function filtersOf({ fields, summary, summary_by, page, per_page, ...filters }) {
  const given = Object.entries(filters).filter(([, value]) => value !== null);
  return given.length > 0 && note(given.map(([name, value]) => words(name) + ': ' + [value].flat().join(', ')).join(' · '));
}

function rangeOf({ page = 1, per_page = 0, total }, rows) {
  const before = (page - 1) * per_page;
  return total === undefined || rows.length === 0
    ? ''
    : ' ' + number(before + 1) + '–' + number(before + rows.length) + ' of ' + number(total);
}

// Falls back to the browser's language if the host's locale is invalid, and to plain text if the value is.
function inLocale(make, value) {
  for (const locale of [context.locale, undefined]) {
    try {
      return make(locale);
    } catch {
      continue;
    }
  }
  return String(value);
}

function number(value) {
  return inLocale((locale) => new Intl.NumberFormat(locale).format(value), value);
}

function money(value, currency) {
  const unit = currency ? { style: 'currency', currency } : { minimumFractionDigits: 2 };
  return inLocale((locale) => new Intl.NumberFormat(locale, unit).format(value), value);
}

function date(value) {
  // A calendar date is the same day everywhere. An instant is shown as the day in the host's time zone.
  const timeZone = value.length === 10 ? 'UTC' : context.timeZone;
  return inLocale((locale) => new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone }).format(new Date(value)), value);
}

function placeOf(code) {
  return inLocale((locale) => new Intl.DisplayNames(locale, { type: 'region' }).of(code), code);
}

function words(value) {
  return String(value).replaceAll('_', ' ');
}

function plural(count, word) {
  return number(count) + ' ' + word + (count === 1 ? '' : 's');
}

function badge(status) {
  return el('span', { className: status === 'overdue' ? 'badge danger' : 'badge' }, words(status));
}

function note(text) {
  return el('p', { className: 'note' }, text);
}

function alertOf(text) {
  return el('p', { className: 'alert', role: 'alert' }, text);
}

// Strings become text nodes, never HTML.
function el(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

new ResizeObserver(sendSize).observe(root);
const appInfo = { name: 'w5t-view', version: '1.0.0' };
const appCapabilities = { availableDisplayModes: ['inline'] };
const params = { appInfo, appCapabilities, protocolVersion: '2026-01-26' };
send({ id: INITIALIZE, method: 'ui/initialize', params });
`;
