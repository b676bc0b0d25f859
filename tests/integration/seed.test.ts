import { text } from 'node:stream/consumers';
import { type SQL, sql } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { rows } from '@/db/database';
import { buildRows, hasCustomers, type SeedCounts, seedDatabase } from '@/db/seed';
import { createChance } from '@/db/seed/rows';
import { addMonths } from '@/lib/dates';
import { postingList } from '@/lib/exports/accounting-csv';
import { productOf, productRevenueCsv } from '@/lib/exports/product-revenue';
import { receivableList } from '@/lib/invoices/receivables';
import { currencyDecimals, toThousandths } from '@/lib/money';
import { AGE_GROUPS } from '@/lib/overdue';
import {
  customerAmountList,
  monthsUntil,
  type ReportName,
  readReports,
  reportCsv,
} from '@/lib/overview/reports';
import { SERVICE_TYPES } from '@/lib/services/queries';
import { useDatabase } from '../support/database';

// The days are a leap day at UTC+14, and New Year’s Day at UTC−8.
const DAYS = [
  { today: '2028-02-29', timeZone: 'Pacific/Kiritimati' },
  { today: '2027-01-01', timeZone: 'America/Los_Angeles' },
];

/** Returns a query for each rule. The query finds the rows that break the rule. */
const breaking = (from: SQL, rules: Record<string, SQL>): [string, SQL][] =>
  Object.entries(rules).map(([rule, bad]) => [rule, sql`select 1 from ${from} where ${bad}`]);

const wrongLines = (owners: SQL) => sql`select o.id from ${owners} group by o.id
  having count(l.id) = 0 or count(distinct l.tax_rate) > 1 or sum(l.quantity * l.unit_price) <> o.subtotal
    or round(o.subtotal * max(l.tax_rate) / 100, case o.currency when 'jpy' then 0 else 2 end) <> o.tax`;

/** Returns the violations that sample data must not contain, each with a query for rows that have it. */
function violations({ today, timeZone }: { today: string; timeZone: string }): [string, SQL][] {
  const day = sql`${today}::date`;
  const local = sql`i.stripe_invoice_id is null`;
  const managed = sql`i.stripe_invoice_id is not null`;
  return [
    ...breaking(sql`invoices i`, {
      'an invoice whose total is not net plus tax': sql`i.total <> i.subtotal + i.tax`,
      'an amount due that is not the rest of the total': sql`
        i.amount_due <> case when i.status = 'cancelled' then 0 else greatest(i.total - i.amount_paid, 0) end`,
      'a paid invoice with an amount due, or another invoice with a time of payment': sql`
        i.status = 'paid' and (i.amount_paid <> i.total or i.amount_due <> 0) or (i.status = 'paid') <> (i.paid_at is not null)`,
      'money on a draft or cancelled invoice': sql`i.status in ('draft', 'cancelled') and i.amount_paid <> 0`,
      'a sent invoice that falls due within the week': sql`
        i.status = 'sent' and (i.due_date is null or i.due_date < ${day} + 7)`,
      'an overdue invoice without a reason': sql`
        i.status = 'overdue' and i.due_date is not null and i.due_date >= ${day} and i.payment_failed_at is null
          or i.status = 'overdue' and i.due_date is null and (${local} or i.payment_failed_at is null)`,
      'an uncollectible invoice that is not overdue': sql`i.uncollectible and i.status <> 'overdue'`,
      'an invoice of the future, or older than three years': sql`
        i.invoice_date not between ${day} - 1096 and ${day} or i.paid_at > ${day} or i.due_date < i.invoice_date`,
      'an invoice number of the wrong form': sql`
        (i.number is null) <> (i.status = 'draft')
          or ${local} and i.number !~ ('^' || to_char(i.invoice_date, 'YYYY') || '-\\d{6}$')
          or ${managed} and i.number !~ '^[0-9A-F]{8}-\\d{4}$'`,
      'an invoice half managed by Stripe': sql`num_nulls(i.stripe_invoice_id, i.stripe_customer_id,
          i.stripe_synced_at, i.provider_as_of, i.amount_off_stripe) not in (0, 5)`,
    }),
    ...breaking(sql`payments p join invoices i on i.id = p.invoice_id`, {
      'a Stripe payment that differs from what Stripe collected': sql`
        ${managed} and (p.payment_reference, p.source, p.amount, p.provider_amount)
          is distinct from (i.stripe_invoice_id, 'stripe', i.amount_paid - i.amount_off_stripe, p.amount)
        or (${managed}) <> (p.source = 'stripe') or (${managed}) <> (coalesce(p.stripe_payment_intent_id, '') like 'pi\\_%')
        or ${managed} and p.payment_date <> (i.paid_at at time zone ${timeZone})::date`,
      'a payment of another customer or currency than its invoice, before it or in the future': sql`
        p.customer_id <> i.customer_id or p.currency <> i.currency or p.payment_date not between i.invoice_date and ${day}`,
    }),
    ...breaking(sql`subscriptions s`, {
      'a subscription half managed by Stripe': sql`
        num_nulls(s.stripe_subscription_id, s.stripe_customer_id, s.stripe_synced_at, s.provider_as_of) not in (0, 4)`,
      'a subscription without one to three items': sql`
        (select count(*) from subscription_items t where t.subscription_id = s.id) not between 1 and 3`,
      'a subscription whose next billing date is not the earliest period end of its items': sql`s.next_billing_date is distinct from
        (select min((t.current_period_end at time zone ${timeZone})::date) from subscription_items t where t.subscription_id = s.id)`,
      'a live subscription that ended, or a cancelled one that did not': sql`
        (s.status = 'cancelled') <> (s.ended_at is not null) or s.status <> 'cancelled' and s.next_billing_date <= ${day}`,
    }),
    ...breaking(
      sql`subscription_items t join subscriptions s on s.id = t.subscription_id
        left join customer_services v on v.id = t.customer_service_id`,
      {
        "an item without a service of the subscription's customer, who is known for sure": sql`
          (v.id is null or v.customer_id <> s.customer_id) and not exists (
            select from stripe_customers l where l.stripe_customer_id = s.stripe_customer_id and l.linked_by = 'created')`,
        'an item half managed by Stripe': sql`
          (t.stripe_subscription_item_id is null) <> (s.stripe_subscription_id is null)`,
      },
    ),
    ...breaking(sql`customer_services v left join servers m on m.id = v.server_id`, {
      'an active service that has not started, or is not billed in the future': sql`
        v.status = 'active' and ((v.billing_interval <> 'once') <> (coalesce(v.next_billing_date > ${day}, false))
          or v.start_date is null or v.start_date > ${day})`,
      'a cancelled service without a time of cancellation, or another service with one': sql`
        (v.status in ('cancelled', 'terminated')) <> (v.cancelled_at is not null)
          or v.cancelled_at < v.start_date - 1 or v.cancelled_at > ${day}`,
      'a running hosting or server without a running machine': sql`
        v.status = 'active' and ((v.service_type in ('hosting', 'server')) <> (m.id is not null)
          or m.status not in ('active', 'maintenance'))`,
      'a hosting or domain without a domain': sql`
        (v.service_type in ('hosting', 'domain')) <> (v.domain is not null)`,
    }),
    ...breaking(sql`sales_documents d`, {
      'a document whose total is not net plus tax': sql`d.total <> d.subtotal + d.tax`,
      'a document whose status contradicts its dates': sql`d.document_date not between ${day} - 1096 and ${day}
          or d.type = 'offer' and d.valid_until is null or d.status in ('draft', 'sent') and d.valid_until < ${day}
          or d.status = 'expired' and (d.valid_until is null or d.valid_until >= ${day})`,
      'a document number of the wrong form': sql`d.document_number !~
        ('^' || case d.type when 'offer' then 'AN' else 'AB' end || to_char(d.document_date, '-YYYY-') || '\\d{4}$')`,
    }),
    ...Object.entries({
      'a local invoice that was not paid by its completed payments': sql`
        select 1 from invoices i left join payments p on p.invoice_id = i.id and p.status = 'completed'
        where ${local} group by i.id having i.amount_paid <> coalesce(sum(p.amount), 0)`,
      'a paid Stripe invoice without its one payment': sql`
        select 1 from invoices i left join payments p on p.invoice_id = i.id
        where ${managed} group by i.id
        having count(p.id) <> case when i.status = 'paid' and i.amount_paid > i.amount_off_stripe then 1 else 0 end`,
      'invoice numbers with a gap or in the wrong order': sql`
        select 1 from (
          select number, invoice_date, row_number() over w as n, lag(invoice_date) over w as before,
            right(number, case when ${local} then 6 else 4 end)::int as seq
          from invoices i where number is not null
          window w as (partition by (case when ${local} then left(number, 4) else left(number, 8) end) order by number)
        ) s where seq <> n or before > invoice_date`,
      'provider state of a fraction of a second, or of the future': sql`
        select 1 from (select provider_as_of as at from invoices union all select provider_as_of from subscriptions
          union all select paid_at from invoices union all select payment_failed_at from invoices
          union all select ended_at from subscriptions) a
        where at <> date_trunc('second', at) or at > ${day} - interval '1 day'`,
      'a row marked for the daily job, or gone': sql`
        select recheck_at from invoices where recheck_at is not null or provider_gone_at is not null
        union all select recheck_at from subscriptions where recheck_at is not null or provider_gone_at is not null
        union all select recheck_at from stripe_customers where recheck_at is not null`,
      'an invoice of another customer than its subscription': sql`
        select 1 from invoices i join subscriptions s on s.id = i.subscription_id
        where i.customer_id <> s.customer_id or i.stripe_customer_id is distinct from s.stripe_customer_id`,
      'a Stripe customer of another customer': sql`
        select 1 from (select customer_id, stripe_customer_id from invoices
          union all select customer_id, stripe_customer_id from subscriptions) m
        left join stripe_customers c using (stripe_customer_id)
        where m.stripe_customer_id is not null and c.customer_id is distinct from m.customer_id`,
      'a created customer whose address no other or several others have': sql`
        select 1 from stripe_customers l join customers c on c.id = l.customer_id
        where l.linked_by = 'email' or l.linked_by = 'created' and (
          select count(*) from customers o where lower(o.email) = lower(c.email) and o.id <> c.id
            and not exists (select from stripe_customers x where x.customer_id = o.id and x.linked_by = 'created')) <> 1`,
      'a service billed on another day than its latest live item': sql`
        select 1 from customer_services v
        join subscription_items t on t.customer_service_id = v.id
        join subscriptions s on s.id = t.subscription_id and s.status <> 'cancelled'
        group by v.id
        having v.next_billing_date is distinct from max((t.current_period_end at time zone ${timeZone})::date)
          or v.next_billing_date <> min(s.next_billing_date)`,
      'a service with another end than its live subscription': sql`
        select 1 from customer_services v
        left join subscription_items t on t.customer_service_id = v.id
        left join subscriptions s on s.id = t.subscription_id and s.status <> 'cancelled'
        group by v.id
        having v.ends_on is distinct from max((s.cancel_at at time zone ${timeZone})::date)`,
      "a currency that is not the customer's": sql`
        select 1 from (select customer_id, currency from customer_services
          union all select customer_id, currency from invoices
          union all select customer_id, currency from sales_documents) m
        join customers c on c.id = m.customer_id where c.currency <> m.currency`,
      'an amount with more decimals than its currency': sql`
        select 1 from (select currency, unnest(array[subtotal, tax, total, amount_paid, amount_due]) as amount from invoices
          union all select currency, unnest(array[subtotal, tax, total]) from sales_documents
          union all select currency, amount from payments
          union all select currency, price from customer_services) m
        where amount <> round(amount, case currency when 'jpy' then 0 else 2 end)`,
      'a tax rate of the wrong country': sql`
        select 1 from invoices i join customers c on c.id = i.customer_id
        where i.tax <> case when c.tax_exempt then 0 when c.country = 'DE' then round(i.subtotal * 0.19, 2)
          when c.country in ('CH', 'GB', 'US', 'JP') or c.vat_id is not null then 0 else i.tax end`,
      'lines that do not add up to their invoice': wrongLines(
        sql`invoices o left join invoice_lines l on l.invoice_id = o.id where o.stripe_invoice_id is null`,
      ),
      'lines that do not add up to their document': wrongLines(
        sql`sales_documents o left join sales_document_lines l on l.sales_document_id = o.id`,
      ),
      'lines of an invoice of Stripe': sql`
        select 1 from invoice_lines l join invoices i on i.id = l.invoice_id where i.stripe_invoice_id is not null`,
      'a document that differs from the invoice it was converted to': sql`
        select 1 from sales_documents d left join invoices i on i.id = d.converted_to_invoice_id
        where (d.status = 'converted') <> (i.id is not null)
          or i.id is not null and (d.customer_id, d.currency, d.subtotal, d.tax, d.total)
            is distinct from (i.customer_id, i.currency, i.subtotal, i.tax, i.total)
          or i.status in ('draft', 'cancelled') or d.document_date > i.invoice_date`,
      'an address that might reach a real person': sql`
        select 1 from customers where email !~ '@example\\.(com|org|net)$' and email !~ '@[a-z0-9.-]+\\.example$'
        union all select 1 from customer_services where domain !~ '^[a-z0-9.-]+\\.example$'
        union all select 1 from servers, unnest(ipv4) ip where ip !~ '^(192\\.0\\.2|198\\.51\\.100|203\\.0\\.113)\\.\\d+$'
        union all select 1 from servers, unnest(ipv6) ip where ip !~ '^2001:db8:'`,
      'an address that two machines share': sql`
        select ip from servers, unnest(ipv4 || ipv6) ip group by ip having count(*) > 1`,
    }),
  ];
}

describe.each(DAYS)('sample data of $today in $timeZone', (options) => {
  const base = useDatabase();
  let counts: SeedCounts;
  let reports: Awaited<ReturnType<typeof readReports>>;
  beforeAll(async () => {
    expect(await hasCustomers(base.db)).toBe(false);
    counts = await seedDatabase(base.db, options);
    expect(await hasCustomers(base.db)).toBe(true);
    reports = await readReports(base.db, options.today, 12);
  });

  test('sample data breaks no consistency rule', async () => {
    const broken: string[] = [];
    for (const [what, query] of violations(options)) {
      if ((await rows(base.db, sql`${query} limit 1`)).length > 0) broken.push(what);
    }
    expect(broken).toEqual([]);
  });

  // Leave out counts, sums and receivables, because writers add the deltas to them at random times.
  test('the rows of sample data match the golden file of their day', async () => {
    const tables = await rows<{ name: string }>(
      base.db,
      sql`select table_name as name from information_schema.tables
        where table_schema = 'public' and table_type = 'BASE TABLE'
          and table_name !~ '(_blocks|_deltas|sums)$|^receivable' order by table_name`,
    );
    const lines: string[] = [];
    for (const { name } of tables) {
      const [found] = await rows<{ count: number; hash: string | null }>(
        base.db,
        sql`select count(*)::int as count, md5(string_agg(line, '' order by line collate "C")) as hash
          from (select (to_jsonb(t) - '{created_at,updated_at}'::text[])::text as line
            from ${sql.identifier(name)} t) _`,
      );
      if (found?.count) lines.push(`${name} ${found.count} ${found.hash}\n`);
    }
    await expect(lines.join('')).toMatchFileSnapshot(`../golden/demo-tables-${options.today}.txt`);
  });

  /** Returns the rows of a report in all currencies, each with the filters to which its numbers lead. */
  const rowsOf = (report: ReportName) =>
    reports.currencies.flatMap((currency) =>
      reports
        .rowsOf(report, currency)
        .map((row) => ({ ...row, given: { month: row.month.slice(0, 7), currency } })),
    );

  test('the changes of recurring revenue in the reports add up, and the total of all products is the recurring revenue', async () => {
    for (const currency of reports.currencies) {
      const recurring = reports.rowsOf('recurring', currency).map(({ values }) => values);
      for (const [i, { mrr, new: more, expansion, contraction, churn }] of recurring.entries()) {
        const changes = [more, expansion, contraction, churn].reduce(
          (sum: number, one) => sum + (one ?? 0),
          0,
        );
        const before = recurring[i - 1];
        // Each amount is rounded separately, so their sum may be a few cents off.
        if (before) expect(Math.abs((mrr ?? 0) - (before.mrr ?? 0) - changes)).toBeLessThan(0.03);
      }
      const products = reports.rowsOf('products', currency).map(({ values }) => values.all);
      expect(products).toEqual(recurring.map(({ mrr }) => mrr));
    }
    expect(reports.currencies[0]).toBe('eur');
    const csv = await text(reportCsv(base.db, 'revenue', options.today, 12));
    expect(csv).toContain(`"${options.today.slice(0, 7)}","eur",`);
  });

  test('each number in the revenue report is the sum of the postings of its kind, month and currency', async () => {
    const lists = [
      ['invoiced_net', 'invoice', 'net'],
      ['invoiced_gross', 'invoice', 'gross'],
      ['credited_gross', 'credit', 'gross'],
      ['received', 'payment', 'gross'],
      ['returned', 'refund', 'gross'],
      ['received_net', 'received', 'gross'],
    ] as const;
    let rowCount = 0;
    for (const { values, given } of rowsOf('revenue')) {
      for (const [name, record, column] of lists) {
        let sum = 0;
        for (let after = {}, more = true; more; ) {
          const { data, next } = await postingList.page(base.db, { ...given, record }, after, 100);
          for (const row of data) sum += toThousandths(row[column] ?? '0');
          rowCount += data.length;
          more = next !== null;
          after = next ? { after: next } : {};
        }
        expect([given, name, sum / 1000]).toEqual([given, name, values[name]]);
      }
    }
    expect(rowCount).toBeGreaterThan(500);
  });

  test('today’s ageing report equals the sums of the receivables and of the unpaid invoices of each age', async () => {
    for (const currency of reports.currencies) {
      const today = reports.rowsOf('ageing', currency).at(-1)?.values ?? {};
      const owed = await receivableList(options.today).page(base.db, { currency }, {}, 1000);
      const sumOf = (column: 'open_amount' | 'not_due') =>
        owed.data.reduce((sum, row) => sum + toThousandths(String(row[column])), 0) / 1000;
      const sums = [currency, sumOf('open_amount'), sumOf('not_due')];
      expect([currency, today.open, today['not-due']]).toEqual(sums);
      for (const age of AGE_GROUPS.slice(1)) {
        const [from, to] = age === 'over-90' ? [91, 99_999] : age.split('-').map(Number);
        const [found] = await rows<{ sum: number }>(
          base.db,
          sql`select coalesce(sum(amount_due), 0)::float as sum from invoices where currency = ${currency}
            and status in ('sent', 'overdue')
            and ${options.today}::date - coalesce(due_date, invoice_date) between ${from}::int and ${to}::int`,
        );
        expect([currency, age, today[age]]).toEqual([currency, age, found?.sum]);
      }
    }
  });

  test('the numbers of a recorded month are the sums or the lengths of the customer lists to which they lead', async () => {
    const measures = {
      recurring: {
        ...{ mrr: 'mrr', customers: 'mrr', customers_lost: 'mrr_churn', new: 'mrr_new' },
        ...{ expansion: 'mrr_expansion', contraction: 'mrr_contraction', churn: 'mrr_churn' },
      },
      ageing: Object.fromEntries(['open', ...AGE_GROUPS].map((age) => [age, `age_${age}`])),
      products: { all: 'mrr', ...Object.fromEntries(SERVICE_TYPES.map((type) => [type, `product_${type}`])) },
    };
    let rowCount = 0;
    for (const report of Object.keys(measures) as (keyof typeof measures)[]) {
      for (const { values, given } of rowsOf(report).filter((row) => row.hasRows)) {
        for (const [name, measure] of Object.entries(measures[report])) {
          const list = { ...given, measure } as Parameters<typeof customerAmountList.page>[1];
          const { data } = await customerAmountList.page(base.db, list, {}, 1000);
          const sum = data.reduce((all, row) => all + Math.round(row.amount * 1e6), 0) / 1e6;
          const rounded = Number(sum.toFixed(currencyDecimals(given.currency)));
          const shown = name.startsWith('customers') ? data.length : rounded;
          if (values[name] !== null) expect([list, shown]).toEqual([list, values[name]]);
          rowCount += data.length;
        }
      }
    }
    expect(rowCount).toBeGreaterThan(1000);
  });

  test('the net revenues of a month’s products add up to the invoiced net amount in the report', async () => {
    const csv = await text(productRevenueCsv(base.db, monthsUntil(options.today, 12)));
    const [, ...lines] = csv.trim().split(/\r?\n/);
    const products = lines.map((line) => line.slice(1, -1).split('","'));
    const net = (cells: string[]) => toThousandths(cells.at(-1) ?? '0');
    const sumOf = (nets: number[]) => nets.reduce((sum, one) => sum + one, 0);
    for (const { values, given } of rowsOf('revenue')) {
      const its = products.filter(([month, code]) => month === given.month && code === given.currency);
      expect([given, sumOf(its.map(net)) / 1000]).toEqual([given, values.invoiced_net]);
    }
    const other = products.filter(([, , name]) => name === '(without lines)');
    const sizeOf = (lines: string[][]) => sumOf(lines.map((cells) => Math.abs(net(cells))));
    expect(sizeOf(other)).toBeLessThan(sizeOf(products) / 2);
  });

  test.each([
    ['Webhosting M, example.com, 2026-10', 'Webhosting M'],
    ['Domain registration für müller-shop.de', 'Domain registration'],
    ['Domain example.co.uk', 'Domain'],
    ['1 × Webhosting (at €11.90 / month)', 'Webhosting'],
    ['Managed Server 01.10.2026 – 31.10.2026', 'Managed Server'],
    ['Monitoring 24/7', 'Monitoring 24/7'],
    ['Backup (50 GB)', 'Backup (50 GB)'],
    ['', '(without lines)'],
  ])('the invoice line %j counts towards the product %j', (text, product) => {
    expect(productOf(text)).toBe(product);
  });

  test('a new customer gets the id after those of sample data', async () => {
    const [row] = await rows<{ id: number }>(
      base.db,
      sql`insert into customers (customer_number) values ('next') returning id`,
    );
    expect(row).toEqual({ id: counts.customers + 1 });
  });
});

describe('the first days of some months', () => {
  const base = useDatabase();

  // The month before last then ended at most 31 days ago, so that `record_month` still knows what was owed at its end.
  test('sample data can be added on 1 December', async () => {
    await seedDatabase(base.db, { today: '2026-12-01', timeZone: 'UTC' });
    const { rowsOf } = await readReports(base.db, '2026-12-01', 12);
    const owed = rowsOf('ageing', 'eur').map(({ values }) => Number(values.open));
    expect(owed).toHaveLength(13);
    for (const open of owed) expect(open).toBeGreaterThan(0);
  });
});

test('sample data of another seed has other customers', () => {
  const options = { today: '2026-11-21', timeZone: 'Europe/Berlin' };
  expect(buildRows({ ...options, seed: 1 }).customers).not.toEqual(buildRows(options).customers);
});

test('random draws in one part of sample data do not affect another part', () => {
  const chance = createChance(1);
  const alone = chance.branch('b').int(0, 1e9);
  chance.branch('a').int(0, 1e9);
  expect(chance.branch('b').int(0, 1e9)).toBe(alone);
});

test('adding months keeps the day of the month, or gives the last day of a shorter month', () => {
  const added = (day: string, months: number) => addMonths(new Date(day), months).toISOString().slice(0, 10);
  const days = [added('2026-01-31', 1), added('2028-02-29', -12), added('2026-12-15', 1)];
  expect(days).toEqual(['2026-02-28', '2027-02-28', '2027-01-15']);
});
