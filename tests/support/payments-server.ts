import { eq } from 'drizzle-orm';
import { beforeAll } from 'vitest';
import * as one from '@/app/api/w5t/payments/[id]/route';
import * as all from '@/app/api/w5t/payments/route';
import { invoices } from '@/db/schema';
import { useApi } from './api';
import { createInvoice } from './factories';
import { callPayments, type PaymentsAnswer } from './payments-api';

/** The payments API over HTTP with a database of its own, and a token that may read and write. */
export function usePayments(env: Record<string, string> = {}) {
  const server = useApi({ '/api/w5t/payments': all, '/api/w5t/payments/[id]': one }, env);
  let token = '';
  let opened = 0;
  beforeAll(async () => {
    token = await server.token('payments:read', 'payments:write');
  });

  /** An open invoice of 119.00 EUR that Stripe does not manage, and the body of a payment that covers it. */
  async function openInvoice(overrides: Parameters<typeof createInvoice>[1] = {}) {
    const invoice = await createInvoice(server.runtime.db, { due_date: '2026-03-29', ...overrides });
    opened += 1;
    const body = {
      invoice_id: invoice.id,
      customer_id: invoice.customer_id,
      amount: 119,
      payment_date: '2026-03-10',
      payment_reference: `BANK-${opened}`,
      status: 'completed',
    };
    return { invoice, body };
  }

  async function stateOf(invoiceId: number) {
    const [row] = await server.runtime.db.select().from(invoices).where(eq(invoices.id, invoiceId));
    return { status: row?.status, paid: Number(row?.amount_paid), due: Number(row?.amount_due) };
  }

  return {
    server,
    openInvoice,
    stateOf,
    /** @param path what follows `/api/w5t/payments` */
    call: (
      method: string,
      path = '',
      body?: unknown,
      headers?: Record<string, string>,
    ): Promise<PaymentsAnswer> => callPayments({ url: server.url, token }, method, path, body, headers),
  };
}

/** The fields that a refusal names. */
export function fieldsOf(answer: PaymentsAnswer): string[] {
  return answer.body.errors.map((error: { field: string }) => error.field);
}
