import { type SQL, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { findCustomers } from '@/lib/customers/find-customers';
import { listInvoices } from '@/lib/invoices/queries';
import { EVERYTHING } from '@/lib/mcp/caller';
import { getCustomerTool } from '@/lib/mcp/tools/get-customer-tool';
import { getMoneyReceived } from '@/lib/overview/money-received';
import { sumOpenInvoices } from '@/lib/overview/open-invoices';
import { listPayments } from '@/lib/payments/queries';
import { listSalesDocuments } from '@/lib/sales-documents/queries';
import { listServices } from '@/lib/services/queries';

export interface Operation {
  name: string;
  /** Through the product's own functions. */
  run(db: Database): Promise<unknown>;
  /** What is written without thinking of millions: ILIKE, count(*), OFFSET. */
  naive: SQL[];
  /** What the tool server or the payments API is asked for the same. */
  http: { tool: string; arguments: object } | { path: string } | null;
}

type List = (db: Database, filters: object) => Promise<{ total: number }>;

interface Listed {
  table: string;
  tool: string;
  list: List;
  order: string;
  joined: boolean;
}

const LISTS: Record<string, Listed> = {
  invoices: {
    table: 'invoices',
    tool: 'list-invoices-tool',
    list: listInvoices,
    order: 'l.invoice_date desc, l.id desc',
    joined: true,
  },
  payments: {
    table: 'payments',
    tool: '',
    list: listPayments,
    order: 'l.payment_date desc, l.id desc',
    joined: false,
  },
  services: {
    table: 'customer_services',
    tool: 'list-services-tool',
    list: listServices,
    order: 'l.service_number',
    joined: true,
  },
  'sales documents': {
    table: 'sales_documents',
    tool: 'list-sales-documents-tool',
    list: listSalesDocuments,
    order: 'l.document_date desc, l.id desc',
    joined: true,
  },
};

/** All that is measured; `totals` tell how many rows each list has. */
export async function operationsOf(db: Database): Promise<Operation[]> {
  const lists: [string, string, Record<string, string>, page?: 'last' | 'middle'][] = [
    ['invoices', 'first page', {}],
    ['invoices', 'status sent', { status: 'sent' }],
    ['invoices', 'one year', { invoice_date_from: '2021-01-01', invoice_date_to: '2021-12-31' }],
    ['invoices', 'sent since 2020', { status: 'sent', invoice_date_from: '2020-01-01' }],
    ['invoices', 'middle page', {}, 'middle'],
    ['invoices', 'last page', {}, 'last'],
    ['invoices', 'of a customer', { customer_id: '17' }],
    ['payments', 'first page', {}],
    ['payments', 'middle page', {}, 'middle'],
    ['payments', 'last page', {}, 'last'],
    ['payments', 'failed, last page', { status: 'failed' }, 'last'],
    ['payments', 'one reference', { payment_reference: 'PAY-77777' }],
    ['services', 'first page', {}],
    ['services', 'active hosting', { status: 'active', service_type: 'hosting' }],
    ['services', 'last page', {}, 'last'],
    ['sales documents', 'first page', {}],
    ['sales documents', 'sent offers', { type: 'offer', status: 'sent' }],
    ['sales documents', 'last page', {}, 'last'],
  ];
  const made = lists.map(([name, what, filters, page]) => listed(db, name, what, filters, page));
  const searches = ['gmbh', 'Müller', 'druckerei 3', 'K10042', 'zzzzqq', 'an', 'qx'].map(searched);
  const customer = { id: 17 };
  return [
    ...(await Promise.all(made)),
    ...searches,
    {
      name: 'overview, received in 365 days',
      run: (on) => getMoneyReceived(on, { today: '2026-11-22', timeZone: 'UTC' }, 365),
      naive: [
        sql`select currency, payment_date, count(*), sum(amount) from payments
          where status = 'completed' and payment_date > '2025-11-22' group by 1, 2`,
      ],
      http: null,
    },
    {
      name: 'overview, open invoices',
      run: sumOpenInvoices,
      naive: [
        sql`select currency, count(*), sum(amount_due) from invoices where status in ('sent', 'overdue') group by 1`,
      ],
      http: null,
    },
    {
      name: 'get-customer',
      run: (on) => getCustomerTool.call(on, customer, EVERYTHING),
      naive: [
        sql`select * from customers where id = 17`,
        sql`select currency, count(*), sum(amount_due) from invoices
          where customer_id = 17 and status in ('sent', 'overdue') group by 1`,
        ...['count(*)', '*'].flatMap((what) => [
          sql`select ${sql.raw(what)} from sales_documents where customer_id = 17
            and status in ('draft', 'sent', 'accepted')`,
          sql`select ${sql.raw(what)} from customer_services where customer_id = 17 and status = 'active'`,
        ]),
      ],
      http: { tool: 'get-customer-tool', arguments: customer },
    },
  ];
}

async function listed(
  db: Database,
  name: string,
  what: string,
  texts: Record<string, string>,
  which?: 'last' | 'middle',
): Promise<Operation> {
  const { table, tool, list, order, joined } = LISTS[name] as Listed;
  const filters = { ...texts, ...(texts.customer_id && { customer_id: Number(texts.customer_id) }) };
  const { total } = await list(db, filters);
  const last = Math.max(1, Math.ceil(total / 25));
  const page = which === 'last' ? last : which === 'middle' ? Math.ceil(last / 2) : 1;
  const wanted = { ...filters, page };
  const where = sql.join(
    [sql`true`, ...Object.entries(texts).map(([column, value]) => toCondition(column, value))],
    sql` and `,
  );
  const from = sql.raw(table);
  const customers = joined ? sql`join customers c on c.id = l.customer_id` : sql``;
  return {
    name: `${name}, ${what}`,
    run: (on) => list(on, wanted),
    naive: [
      sql`select count(*) from ${from} l where ${where}`,
      sql`select l.* from ${from} l ${customers} where ${where} order by ${sql.raw(order)}
        limit 25 offset ${(page - 1) * 25}`,
    ],
    http: tool
      ? { tool, arguments: wanted }
      : {
          path: `/api/w5t/payments?${new URLSearchParams(Object.entries(wanted).map(([k, v]) => [k, String(v)]))}`,
        },
  };
}

function toCondition(column: string, value: string): SQL {
  const [name, end] = column.split(/_(?=from$|to$)/);
  const compared = end === 'from' ? '>=' : end === 'to' ? '<=' : '=';
  return sql`${sql.raw(`l.${name} ${compared}`)} ${value}`;
}

function searched(query: string): Operation {
  const pattern = `%${query}%`;
  return {
    name: `find-customer, "${query}"`,
    run: (db) => findCustomers(db, query),
    naive: [
      sql`select * from customers where customer_number ilike ${pattern} or email ilike ${pattern}
        or first_name ilike ${pattern} or last_name ilike ${pattern} or company ilike ${pattern}
        or first_name || ' ' || last_name ilike ${pattern} order by customer_number limit 26`,
    ],
    http: { tool: 'find-customer-tool', arguments: { query } },
  };
}
