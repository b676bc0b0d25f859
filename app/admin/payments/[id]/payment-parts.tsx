import { Group, Stack } from '@mantine/core';
import { formatDate, formatField, formatMoney } from '@/app/_components/format';
import { LinkButton, TextLink } from '@/app/_components/links';
import { toHref } from '@/app/_components/search-params';
import { CheckButton } from '@/app/admin/_components/audit/check/check';
import { CopyButton } from '@/app/admin/_components/display/copy-button';
import { StatusBadge } from '@/app/admin/_components/display/status';
import { StripeId } from '@/app/admin/_components/display/stripe-id';
import { Facts, Instant } from '@/app/admin/_components/display/values';
import { ConfirmButton } from '@/app/admin/_components/forms/confirm-button';
import { PageActions } from '@/app/admin/_components/page/page-actions';
import { Section } from '@/app/admin/_components/page/section';
import { CustomerSection } from '@/app/admin/_components/records/customer-link';
import { InvoiceLink, invoiceName } from '@/app/admin/_components/records/invoice-list';
import { PAYMENT_SOURCES } from '@/app/admin/_components/records/payment-list';
import { etagOf } from '@/lib/http/messages';
import { takesPayments } from '@/lib/invoices/settle';
import { owedAfter } from '@/lib/invoices/totals';
import type { PaymentContext } from '@/lib/payments/list';
import type { PaymentRow } from '@/lib/payments/schema';
import { isCorrectable } from '@/lib/payments/typed-payment';
import { check, decide, markRefunded, remove } from '../actions';

interface Props {
  payment: PaymentRow;
  invoice: PaymentContext['invoice'];
  /** Whether the payment or its invoice exists at Stripe, so that it can be checked there. */
  isAtStripe: boolean;
}

/** Shows the actions of a payment. They are refused if the payment has changed since the page was loaded. */
export function PaymentActions({ payment, invoice, isAtStripe }: Props) {
  const { id, source } = payment;
  const version = etagOf(payment);
  const money = (amount: number) => formatMoney(amount, payment.currency);
  const named = `${money(payment.amount)}, ${payment.payment_reference}`;
  const rest = payment.amount - payment.refunded_amount;
  const noted = payment.refunded_amount > 0 ? `that the rest, ${money(rest)}, was refunded` : 'the refund';
  const counts = payment.status === 'completed' && !invoice.stripe_invoice_id;
  const number = invoiceName(invoice);
  const onInvoice = counts
    ? `The payment no longer counts towards invoice ${number}, which will then owe ${money(owedAfter(invoice, rest))}.`
    : `Invoice ${number} stays as it is.`;
  const isPending = payment.status === 'pending';
  const isCompleted = payment.status === 'completed';
  return (
    <PageActions
      key={version}
      primary={
        isPending ? (
          <ConfirmButton
            action={decide.bind(null, id, version, 'completed')}
            question="Confirm this payment?"
            confirm="Confirm payment"
            consequences={[named, `The money has arrived. It counts towards invoice ${number} from now on.`]}
            variant="filled"
          >
            Confirm
          </ConfirmButton>
        ) : (
          isCompleted && (
            <LinkButton href={`/admin/payments/${id}/refund`} size="sm">
              Record refund
            </LinkButton>
          )
        )
      }
      grave={[
        isCompleted && (
          <ConfirmButton
            key="refunded"
            action={markRefunded.bind(null, id, version)}
            question="Mark this payment as refunded?"
            consequences={[named, `This records ${noted}; no money is moved. ${onInvoice}`]}
          >
            Mark as refunded
          </ConfirmButton>
        ),
        <ConfirmButton
          key="delete"
          action={remove.bind(null, id, version)}
          question="Delete this payment?"
          confirm="Delete payment"
          color="red.9"
          consequences={[
            named,
            `${onInvoice} Its history is kept.${source === 'stripe' ? ' Nothing changes at Stripe.' : ''}`,
          ]}
        >
          Delete
        </ConfirmButton>,
      ]}
    >
      {isAtStripe && <CheckButton action={check.bind(null, id)} />}
      {isCorrectable(payment) && (
        <LinkButton href={`/admin/payments/${id}/edit`} size="sm" variant="default">
          Correct
        </LinkButton>
      )}
      {isPending && (
        <ConfirmButton
          action={decide.bind(null, id, version, 'failed')}
          question="Mark this payment as failed?"
          consequences={[named, `The money will not arrive. Invoice ${number} stays open.`]}
        >
          Mark as failed
        </ConfirmButton>
      )}
    </PageActions>
  );
}

interface FactsProps {
  payment: PaymentRow;
  /** The payment's id at Stripe. Null if it is unknown. */
  stripePayment: string | null;
  timeZone: string;
}

export function PaymentFacts({ payment, stripePayment, timeZone }: FactsProps) {
  const money = (amount: number) => formatMoney(amount, payment.currency);
  return (
    <Facts
      facts={{
        ID: payment.id,
        Reference: (
          <Group gap={4} wrap="nowrap" component="span">
            {payment.payment_reference}
            <CopyButton value={payment.payment_reference} name="reference" />
          </Group>
        ),
        Amount: money(payment.amount),
        Refunded: payment.refunded_amount > 0 ? money(payment.refunded_amount) : undefined,
        Date: formatDate(payment.payment_date),
        Status: formatField(payment.status),
        Source: PAYMENT_SOURCES[payment.source],
        Stripe: stripePayment ? <StripeId id={stripePayment} /> : undefined,
        Created: <Instant at={payment.created_at} timeZone={timeZone} />,
        Updated: <Instant at={payment.updated_at} timeZone={timeZone} />,
      }}
    />
  );
}

/** Shows the invoice and the customer of a payment. */
export function ContextFacts({ invoice, customer }: PaymentContext) {
  const money = (amount: number) => formatMoney(amount, invoice.currency);
  return (
    <Stack gap="lg">
      <Section
        title="Invoice"
        action={
          <Group gap="md">
            {takesPayments(invoice) && (
              <TextLink href={toHref('/admin/payments/new', { invoice: `#${invoice.id}` })}>
                Record payment
              </TextLink>
            )}
            <TextLink href={toHref('/admin/payments', { invoice: `#${invoice.id}` })}>All payments</TextLink>
          </Group>
        }
      >
        <Facts
          facts={{
            Number: <InvoiceLink invoice={invoice} />,
            Status: <StatusBadge status={invoice.status} />,
            Total: money(invoice.total),
            Paid: money(invoice.amount_paid),
            Due: [money(invoice.amount_due), invoice.due_date && `by ${formatDate(invoice.due_date)}`]
              .filter(Boolean)
              .join(', '),
            Managed: invoice.stripe_invoice_id ? (
              <>
                by Stripe, <StripeId id={invoice.stripe_invoice_id} />
              </>
            ) : (
              'here'
            ),
          }}
        />
      </Section>
      <CustomerSection customer={customer} all={{ path: '/admin/payments', label: 'All payments' }} />
    </Stack>
  );
}
