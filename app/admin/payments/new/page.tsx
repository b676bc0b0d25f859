import { Alert, Box, Button, Group, Paper, Stack, TextInput } from '@mantine/core';
import Form from 'next/form';
import { formatDate, formatMoney, formatPlainAmount } from '@/app/_components/format';
import { TextLink } from '@/app/_components/links';
import { toHref } from '@/app/_components/search-params';
import { toCalendarDate } from '@/lib/dates';
import { AppError } from '@/lib/errors';
import type { PaymentContext } from '@/lib/payments/list';
import { findPayableInvoice, findPayableInvoices } from '@/lib/payments/list';
import type { Runtime } from '@/lib/runtime';
import { Money, StatusBadge } from '../../_components/display/values';
import { RecordList } from '../../_components/lists/record-list';
import { problemOf } from '../../_components/page/staff-action';
import { FormPage, Section, staffPage } from '../../_components/page/staff-page';
import { invoiceName } from '../../_components/records/invoice-list';
import { record } from '../actions';
import { PaymentForm } from '../payment-forms';

export const metadata = { title: 'Record a payment' };

export default staffPage(async ({ runtime, search }) => (
  <FormPage back={{ href: '/admin/payments', label: 'Payments' }} title="Record a payment">
    {await stepFor(runtime, search.get('invoice'))}
  </FormPage>
));

/** Returns the form that asks for the invoice. Once the invoice is found, returns the payment form instead. */
async function stepFor({ db, env, now }: Runtime, named: string | null) {
  if (named === null) return <InvoiceForm />;
  const found = await findPayableInvoice(db, named).catch((error: unknown) => {
    if (error instanceof AppError) return problemOf(error);
    throw error;
  });
  if (typeof found === 'string') {
    const matches = await findPayableInvoices(db, named);
    return (
      <>
        <InvoiceForm named={named} {...(matches.length === 0 && { problem: found })} />
        {matches.length > 0 && <InvoiceMatches matches={matches} />}
      </>
    );
  }
  const { id, currency, amount_due, stripe_invoice_id } = found.invoice;
  return (
    <>
      <InvoiceSummary invoice={found.invoice} customer={found.customer} />
      <PaymentForm
        action={record.bind(null, id)}
        submit="Record payment"
        cancel="/admin/payments"
        currency={currency}
        open={stripe_invoice_id ? null : amount_due}
        typed={{
          amount: amount_due > 0 ? formatPlainAmount(amount_due, currency) : '',
          payment_date: toCalendarDate(now(), env.timeZone),
          payment_reference: '',
        }}
      />
    </>
  );
}

/** Asks for the invoice first, because it determines the customer, the currency and the open amount. */
function InvoiceForm({ named, problem }: { named?: string; problem?: string }) {
  return (
    <Form prefetch={false} action="/admin/payments/new">
      <Paper withBorder radius="lg" p="lg">
        <Stack gap="md" align="flex-start">
          <TextInput
            w="100%"
            label="Invoice"
            name="invoice"
            description="A customer’s name, a number or part of one, or an amount."
            required
            withAsterisk={false}
            autoFocus
            {...(named !== undefined && { defaultValue: named })}
            {...(problem !== undefined && { error: problem })}
          />
          <Button type="submit">Find invoice</Button>
        </Stack>
      </Paper>
    </Form>
  );
}

type Match = Awaited<ReturnType<typeof findPayableInvoices>>[number];

/** Lists matching invoices, unpaid invoices first. Each invoice links to the form for its payment. */
function InvoiceMatches({ matches }: { matches: Match[] }) {
  return (
    <Box mt="xl">
      <Section title="Which invoice?">
        <RecordList
          label="Matching invoices"
          rows={matches}
          hrefOf={({ id }) => toHref('/admin/payments/new', { invoice: `#${id}` })}
          columns={[
            { label: 'Invoice', width: '26%', cell: (invoice) => <strong>{invoiceName(invoice)}</strong> },
            { label: 'Customer', cell: nameOf, title: true },
            { label: 'Status', width: '18%', cell: ({ status }) => <StatusBadge status={status} /> },
            { label: 'Open', width: '20%', align: 'right', cell: openOf },
          ]}
          entryOf={(invoice) => ({
            title: invoiceName(invoice),
            detail: [nameOf(invoice), invoice.due_date && `due ${formatDate(invoice.due_date)}`]
              .filter(Boolean)
              .join(' · '),
            figure: openOf(invoice),
            state: <StatusBadge status={invoice.status} />,
          })}
        />
      </Section>
    </Box>
  );
}

const nameOf = ({ customer }: Match) => customer.name || customer.customer_number;
const openOf = ({ amount_due, currency }: Match) => <Money amount={amount_due} currency={currency} />;

/** Shows the invoice that the payment is for, and its customer. */
function InvoiceSummary({ invoice, customer }: PaymentContext) {
  const money = (amount: number) => formatMoney(amount, invoice.currency);
  return (
    <Stack gap="md" mb="xl">
      <Section
        title="Invoice"
        action={<TextLink href="/admin/payments/new">Another invoice</TextLink>}
        facts={{
          Number: (
            <Group gap="xs">
              {invoiceName(invoice)}
              <StatusBadge status={invoice.status} />
            </Group>
          ),
          Customer: [customer.name, customer.customer_number].filter(Boolean).join(', '),
          Total: money(invoice.total),
          Open: money(invoice.amount_due),
          Due: invoice.due_date && formatDate(invoice.due_date),
        }}
      />
      {invoice.stripe_invoice_id && (
        <Alert color="orange" variant="light" title="Stripe manages this invoice">
          The payment is kept here but does not settle the invoice, whose amounts and status come only from
          Stripe. If it was paid another way, mark it as paid there.
        </Alert>
      )}
    </Stack>
  );
}
