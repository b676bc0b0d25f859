import type { Sql } from 'postgres';
import { type Row as Payment, toJson as toPayment } from '../payments/same-sql';
import type { Recorded, Said } from './record';

type Row = Record<string, unknown>;

/** Under which the statements of the list of payments are recorded; those of a tool under its name. */
export const PAYMENTS = 'payments';
const CUSTOMER = 'get-customer-tool';
const AMOUNTS = ['subtotal', 'tax', 'total', 'amount_paid', 'amount_due', 'price'];
const MAX_MATCHES = 25;

/** The first page of payments. */
export async function listPayments(sql: Sql, recorded: Recorded) {
  const [found = []] = await askAll(sql, recorded[PAYMENTS]);
  return { ...pageOf(found), data: found.map((row) => toPayment(row as unknown as Payment)) };
}

/** The answer to a message that calls a tool; its arguments are those that were recorded. */
export async function callTool(
  sql: Sql,
  recorded: Recorded,
  { id, params: { name } }: { id: number; params: { name: string } },
) {
  const content = toContent(name, await askAll(sql, recorded[name], name === CUSTOMER));
  const result = { content: [{ type: 'text', text: JSON.stringify(content) }], structuredContent: content };
  return { result, jsonrpc: '2.0', id };
}

/** As much as ours says, in about the same form. */
function toContent(tool: string, answers: Row[][]): Row {
  const [first = [], ...others] = answers;
  if (tool === CUSTOMER) return { ...first[0], details: others.map((found) => found.map(toRow)) };
  if (tool === 'list-invoices-tool') return { ...pageOf(first), data: first.map(toRow) };
  const known = new Map(answers.flat().map((row) => [row.id, row]));
  known.delete(null);
  const matches = [...known.values()].slice(0, MAX_MATCHES).map(toCustomer);
  return { count: matches.length, truncated: known.size > MAX_MATCHES, matches };
}

/** One after the other, or all but the first at once. */
async function askAll(sql: Sql, [first, ...rest]: Said[] = [], isAtOnce = false): Promise<Row[][]> {
  const answers = first ? [await ask(sql, first)] : [];
  if (isAtOnce) return [...answers, ...(await Promise.all(rest.map((said) => ask(sql, said))))];
  for (const said of rest) answers.push(await ask(sql, said));
  return answers;
}

/** Rows with the columns from a second `id` on under `customer`. */
async function ask(sql: Sql, { text, values }: Said): Promise<Row[]> {
  const found = await sql.unsafe<Row[]>(text, values, { prepare: true }).values();
  const names = found.columns.map(({ name }) => name);
  const second = names.indexOf('id', names.indexOf('id') + 1);
  const joined = second > 0 ? second : names.length;
  return [...found].map((row) => {
    const read = (from: number, to: number) =>
      Object.fromEntries(names.slice(from, to).map((name, i) => [name, row[from + i]]));
    const own: Row = read(0, joined);
    if (second > 0) own.customer = read(joined, names.length);
    return own;
  });
}

/** Each row ends with how many there are. */
function pageOf([row = {}]: Row[]) {
  const total = Number(Object.values((row.customer as Row | undefined) ?? row).at(-1) ?? 0);
  return { page: 1, per_page: 25, total, last_page: Math.max(1, Math.ceil(total / 25)) };
}

function toRow(row: Row): Row {
  const amounts = AMOUNTS.filter((name) => name in row).map((name) => [name, Number(row[name])]);
  const customer = row.customer as Row | undefined;
  return { ...row, ...Object.fromEntries(amounts), ...(customer && { customer: toCustomer(customer) }) };
}

function toCustomer({ id, customer_number, first_name, last_name, company, email, status }: Row): Row {
  const name = company || [first_name, last_name].filter(Boolean).join(' ');
  return { id, customer_number, name, email, status };
}
