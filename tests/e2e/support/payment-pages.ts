import { sql } from 'drizzle-orm';
import { expect } from 'vitest';
import type { Database } from '@/db/database';
import type { PaymentRow } from '@/lib/payments/schema';
import { createCustomer, createInvoice, createPayment } from '../../support/factories';
import { useStaffPages } from './staff-pages';

/** The sample company and 30 payments more, somebody signed in, and the API beside the pages. */
export function usePaymentPages() {
  let token: string;
  let held: { invoice: { id: number; number: string | null }; ids: number[] };
  const site = useStaffPages({
    async fill(db, company) {
      ({ token } = company);
      held = await fillPayments(db);
      await fillBroken(db);
    },
  });

  const api = (path: string, init: RequestInit = {}) =>
    fetch(`${site.url}/api/w5t/payments${path}`, {
      ...init,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    });
  return {
    get url() {
      return site.url;
    },
    get cookie() {
      return site.cookie;
    },
    get held() {
      return held;
    },
    open: site.open,
    /** The nth of the payments held, by the API. */
    write: (n: number, method: 'PATCH' | 'DELETE', body?: object) =>
      api(`/${held.ids[n]}`, { method, ...(body && { body: JSON.stringify(body) }) }),
    async read(n: number): Promise<PaymentRow | null> {
      const response = await api(`/${held.ids[n]}`);
      return response.ok ? ((await response.json()) as PaymentRow) : null;
    },
    async paymentsNamed(reference: string): Promise<PaymentRow[]> {
      return (await (await api(`?${new URLSearchParams({ payment_reference: reference })}`)).json()).data;
    },
  };
}

/** What a page comes to show in the end. */
export function eventually<T>(read: () => Promise<T>) {
  return expect.poll(read, { timeout: 15_000 });
}

/** 30 completed payments of one local invoice, K-E2E's E2E-1: E2E-000 of 100.00 EUR, E2E-001 of 99.00, … */
async function fillPayments(db: Database) {
  const customer = await createCustomer(db, { customer_number: 'K-E2E', company: '=Weiß & Söhne' });
  const invoice = await createInvoice(db, { number: 'E2E-1', customer_id: customer.id });
  const ids: number[] = [];
  for (let i = 0; i < 30; i++) {
    const payment_reference = `E2E-${String(i).padStart(3, '0')}`;
    const on = { invoice_id: invoice.id, customer_id: customer.id, payment_date: '2026-01-10' };
    ids.push((await createPayment(db, { ...on, payment_reference, amount: String(100 - i) })).id);
  }
  return { invoice, ids };
}

/** A row that cannot be read, behind more than one batch of K-BROKEN's export. */
async function fillBroken(db: Database) {
  const customer = await createCustomer(db, { customer_number: 'K-BROKEN' });
  const invoice = await createInvoice(db, { number: 'BROKEN-1', customer_id: customer.id });
  await db.execute(sql`
    insert into payments (invoice_id, customer_id, amount, payment_date, payment_reference, status, source)
    select ${invoice.id}::int, ${customer.id}::int, case when i = 1200 then 'NaN'::numeric else 5 end,
      '2019-01-01', 'BROKEN-' || i, 'failed', 'import'
    from generate_series(1, 1500) i order by i desc`);
}
