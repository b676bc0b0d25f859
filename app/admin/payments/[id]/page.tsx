import { Alert, Group, SimpleGrid, Stack } from '@mantine/core';
import { notFound } from 'next/navigation';
import { formatDate, formatField, formatMoney } from '@/app/_components/format';
import { LinkButton, SideButton, TextLink } from '@/app/_components/links';
import { toHref } from '@/app/_components/search-params';
import { listAudit } from '@/lib/audit/audit-log';
import { etagOf } from '@/lib/http/messages';
import { takesPayments } from '@/lib/invoices/settle';
import { owedAfter } from '@/lib/invoices/totals';
import { getPaymentContext, type PaymentContext } from '@/lib/payments/list';
import { isUndecided, listMoneyBack, ofPayment } from '@/lib/payments/money-back';
import { findTransferId, getPayment, toDeletedPayment } from '@/lib/payments/queries';
import type { PaymentRow } from '@/lib/payments/schema';
import { findStripePayment } from '@/lib/payments/stripe-payment';
import { isCorrectable } from '@/lib/payments/typed-payment';
import type { Runtime } from '@/lib/runtime';
import { getLastCheck } from '@/lib/sync/staff/check-with-stripe';
import { AuditTrail } from '../../_components/audit/audit-trail';
import { CheckButton, CheckNotice, LastCheckSection } from '../../_components/audit/check/check';
import { CopyButton } from '../../_components/display/copy-button';
import { StripeId } from '../../_components/display/stripe-id';
import { Instant, RecordTitle, StatusBadge } from '../../_components/display/values';
import { ConfirmButton } from '../../_components/forms/confirm-button';
import { RecordNotice } from '../../_components/forms/record/record-notice';
import { PageActions } from '../../_components/page/page-actions';
import { orNotFound, orNull, Page, recordPage, Section, titleOfRow } from '../../_components/page/staff-page';
import { CustomerSection } from '../../_components/records/customer-link';
import { InvoiceLink, invoiceName } from '../../_components/records/invoice-list';
import { MoneyBackSection } from '../../_components/records/money-back/money-back-list';
import { PAYMENT_SOURCES } from '../../_components/records/payment-list';
import { RecordTasks } from '../../_components/records/record-alerts';
import { check, decide, markRefunded, remove } from '../actions';

export const generateMetadata = titleOfRow(
  'Payment',
  getPayment,
  (one) => `Payment ${one.payment_reference}`,
);

/** Maximum number of refunds and disputes to show. A payment has far fewer. */
const MAX_ROWS = 100;

const read = async (db: Runtime['db'], id: number) => ({ held: await orNull(getPayment(db, id)) });

/** Shows a payment. A deleted payment is shown as it was before its deletion. */
export default recordPage(read, async ({ held }, { id, db, timeZone, search, notice }) => {
  const history = await listAudit(db, 'payment', id);
  const deleted = held ? null : toDeletedPayment(history);
  const payment = held ?? deleted?.payment ?? notFound();
  const context = await orNotFound(getPaymentContext(db, payment));
  const stripePayment = held && (await findStripePayment(db, id));
  const transferId = payment.transfer === null ? null : await findTransferId(db, payment.transfer);
  const moneyBack = await listMoneyBack(db, ofPayment(id), MAX_ROWS);
  const isDisputed = moneyBack.some(isUndecided);
  const status = isDisputed ? 'disputed' : payment.status;
  const lastCheck = await getLastCheck(db, history);
  return (
    <Page
      back={{ href: '/admin/payments', label: 'Payments' }}
      title={
        <RecordTitle status={deleted ? 'deleted' : status}>
          {formatMoney(payment.amount, payment.currency)}
          {held?.status === 'refunded' && isDisputed && <StatusBadge status="refunded" />}
        </RecordTitle>
      }
      description={payment.payment_reference}
      actions={
        held && (
          <PaymentActions
            key={notice}
            payment={held}
            invoice={context.invoice}
            transferId={transferId}
            isAtStripe={Boolean(stripePayment || context.invoice.stripe_invoice_id)}
          />
        )
      }
      notice={
        <>
          <RecordNotice notice={notice} done={DONE} refused={REFUSED} />
          <RecordTasks entity="payment" id={id} />
          <CheckNotice outcome={search.get('check')} last={lastCheck} />
          {deleted && (
            <Alert color="orange" variant="light" mb="lg" title="This payment was deleted">
              {deleted.deleted_by} deleted it on <Instant at={deleted.deleted_at} timeZone={timeZone} />. This
              is its last version.
            </Alert>
          )}
        </>
      }
    >
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
        <PaymentFacts {...{ payment, transferId, stripePayment, timeZone }} />
        <ContextFacts {...context} />
      </SimpleGrid>
      <MoneyBackSection rows={moneyBack} timeZone={timeZone} />
      <LastCheckSection last={lastCheck} timeZone={timeZone} />
      <Section title="History">
        <AuditTrail entries={history} timeZone={timeZone} />
      </Section>
    </Page>
  );
});

const DONE = {
  recorded: 'The payment is recorded.',
  refunded: 'The payment is marked as refunded.',
  'refund-recorded': 'The refund is recorded.',
  completed: 'The payment is confirmed. It now counts towards its invoice.',
  failed: 'The payment is marked as failed. It does not count towards its invoice.',
  edited: 'The payment is corrected.',
};
const REFUSED = {
  precondition_failed:
    'The payment changed in the meantime, so nothing was saved. This is the latest version.',
  not_found: 'The payment was deleted in the meantime. This is its last version.',
};

interface Props {
  payment: PaymentRow;
  invoice: PaymentContext['invoice'];
  transferId: number | null;
  /** Whether the payment or its invoice exists at Stripe, so that staff can check the payment with Stripe. */
  isAtStripe: boolean;
}

/** Shows the actions of a payment. A change is refused if the payment has changed since the page was loaded. */
function PaymentActions({ payment, invoice, transferId, isAtStripe }: Props) {
  const { id, source } = payment;
  const version = etagOf(payment);
  const money = (amount: number) => formatMoney(amount, payment.currency);
  const named = `${money(payment.amount)}, ${payment.payment_reference}`;
  const rest = payment.amount - payment.refunded_amount;
  const noted = payment.refunded_amount > 0 ? `that the rest, ${money(rest)}, was refunded` : 'the refund';
  const counts = payment.status === 'completed' && !invoice.stripe_invoice_id;
  const number = invoiceName(invoice);
  const onInvoice = counts
    ? `The payment no longer counts towards invoice ${number}. The balance due will be ${money(owedAfter(invoice, rest))}.`
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
            ...(transferId === null ? [] : ['The amount becomes unused credit of the transfer.']),
          ]}
        >
          Delete
        </ConfirmButton>,
      ]}
    >
      {isAtStripe && <CheckButton action={check.bind(null, id)} />}
      {isCorrectable(payment) && transferId === null && (
        <SideButton href={`/admin/payments/${id}/edit`}>Correct</SideButton>
      )}
      {transferId !== null && (
        <SideButton href={`/admin/payments/transfers/${transferId}`}>Open transfer</SideButton>
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
  /** Id of the transfer that the payment is part of. Null if it is part of none, or if the transfer was deleted. */
  transferId: number | null;
  /** The payment's id at Stripe. Null for a payment without such an id, and for a deleted payment. */
  stripePayment: string | null;
  timeZone: string;
}

function PaymentFacts({ payment, transferId, stripePayment, timeZone }: FactsProps) {
  const money = (amount: number) => formatMoney(amount, payment.currency);
  return (
    <Section
      title="Payment"
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
        Transfer:
          transferId === null ? (
            (payment.transfer ?? undefined)
          ) : (
            <TextLink href={`/admin/payments/transfers/${transferId}`}>{payment.transfer}</TextLink>
          ),
        Stripe: stripePayment ? <StripeId id={stripePayment} /> : undefined,
        Created: <Instant at={payment.created_at} timeZone={timeZone} />,
        Updated: <Instant at={payment.updated_at} timeZone={timeZone} />,
      }}
    />
  );
}

/** Shows the invoice and the customer of a payment. */
function ContextFacts({ invoice, customer }: PaymentContext) {
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
      <CustomerSection customer={customer} all={{ path: '/admin/payments', label: 'All payments' }} />
    </Stack>
  );
}
