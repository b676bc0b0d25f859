import { Box } from '@mantine/core';
import type { Metadata } from 'next';
import type { ReactNode } from 'react';
import { requireStaff } from '@/lib/auth/session/staff-session';
import { toCalendarDate } from '@/lib/dates';
import { AppError } from '@/lib/errors';
import { findPayableInvoice, findPayableInvoices } from '@/lib/payments/payable-invoices';
import { getRuntime } from '@/lib/runtime';
import { formatPlainAmount } from '../../../_components/format';
import { type SearchParams, toParams } from '../../../_components/search-params';
import { PageHeader } from '../../_components/page/page-header';
import { problemOf } from '../../_components/page/staff-action';
import { PaymentForm } from '../payment-form';
import { record } from './actions';
import { InvoiceForm } from './invoice-form';
import { InvoiceMatches } from './invoice-matches';
import { InvoiceSummary } from './invoice-summary';

export const metadata: Metadata = { title: 'Record a payment' };

export default async function NewPaymentPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  await requireStaff();
  const named = toParams(await searchParams).get('invoice');
  if (named === null) {
    return (
      <Frame>
        <InvoiceForm />
      </Frame>
    );
  }
  const { db, env, now } = await getRuntime();
  const found = await orProblem(findPayableInvoice(db, named));
  if (typeof found === 'string') {
    const matches = await findPayableInvoices(db, named);
    return (
      <Frame>
        <InvoiceForm named={named} {...(matches.length === 0 && { problem: found })} />
        {matches.length > 0 && <InvoiceMatches matches={matches} />}
      </Frame>
    );
  }
  const { id, currency, amount_due, stripe_invoice_id } = found.invoice;
  return (
    <Frame>
      <InvoiceSummary invoice={found.invoice} customer={found.customer} />
      <PaymentForm
        action={record.bind(null, id)}
        submit="Record payment"
        cancel="/admin/payments"
        currency={currency}
        open={stripe_invoice_id ? null : amount_due}
        initial={{
          amount: amount_due > 0 ? formatPlainAmount(amount_due, currency) : '',
          payment_date: toCalendarDate(now(), env.timeZone),
          payment_reference: '',
        }}
      />
    </Frame>
  );
}

function Frame({ children }: { children: ReactNode }) {
  return (
    <Box maw={600}>
      <PageHeader back={{ href: '/admin/payments', label: 'Payments' }} title="Record a payment" />
      {children}
    </Box>
  );
}

/** What the domain says against it, as a sentence for the field. */
async function orProblem<T>(found: Promise<T>): Promise<T | string> {
  try {
    return await found;
  } catch (error) {
    if (error instanceof AppError) return problemOf(error);
    throw error;
  }
}
