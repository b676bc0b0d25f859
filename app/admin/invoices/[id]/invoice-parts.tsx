import { Alert, Anchor, Group, List, ListItem, Stack, Text } from '@mantine/core';
import { IconExternalLink } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import {
  formatCustomer,
  formatDate,
  formatDay,
  formatMoney,
  formatPlainAmount,
} from '@/app/_components/format';
import { LinkButton, SideButton, TextLink } from '@/app/_components/links';
import { toHref } from '@/app/_components/search-params';
import { type DocumentState, explain } from '@/lib/documents/invoice-document';
import type { StripeMode } from '@/lib/env';
import { type CreditNoteRow, takesCreditNotes } from '@/lib/invoices/credit-notes';
import type { WithMoneyBack } from '@/lib/invoices/money-back';
import { besidePayments, type InvoiceDetails } from '@/lib/invoices/queries';
import { takesPayments } from '@/lib/invoices/settle';
import { listUsableCredits } from '@/lib/payments/queries';
import { getRuntime } from '@/lib/runtime';
import { listSalesDocuments } from '@/lib/sales-documents/queries';
import { dashboardUrl } from '@/lib/stripe/dashboard';
import { CheckButton } from '../../_components/audit/check/check';
import { StripeId } from '../../_components/display/stripe-id';
import { Instant, Money } from '../../_components/display/values';
import { ActionForm } from '../../_components/forms/form';
import { RecordActions } from '../../_components/forms/record/record-actions';
import { NewLink } from '../../_components/forms/record/record-list-page';
import { PageActions } from '../../_components/page/page-actions';
import { Section } from '../../_components/page/staff-page';
import { invoiceName } from '../../_components/records/invoice-list';
import { WhyNoDocument } from '../../_components/records/record-alerts';
import { check, payWithCredit } from '../actions';
import { isOwnDraft, isOwnUnpaid } from '../form-parts';

/** Shows the actions of an invoice. If Stripe manages the invoice, the primary button opens it at Stripe. */
export function InvoiceActions({ invoice, mode }: { invoice: InvoiceDetails; mode: StripeMode | null }) {
  const { id, customer, version, stripe_invoice_id: stripeId } = invoice;
  const payment = takesPayments(invoice) && (
    <NewLink
      href={toHref('/admin/payments/new', { invoice: `#${id}` })}
      {...(stripeId !== null && { variant: 'default' })}
    >
      Record payment
    </NewLink>
  );
  if (stripeId !== null) {
    const open = (
      <LinkButton
        href={dashboardUrl(mode, `invoices/${stripeId}`)}
        rel="noreferrer"
        size="sm"
        leftSection={<IconExternalLink size={16} aria-hidden />}
      >
        Open in Stripe
      </LinkButton>
    );
    return (
      <PageActions primary={open}>
        {payment}
        <CheckButton action={check.bind(null, id)} />
        <SideButton href={toHref('/admin/webhooks', { id: stripeId })}>Events</SideButton>
      </PageActions>
    );
  }
  const total = formatMoney(invoice.total, invoice.currency);
  const dueDate = isOwnUnpaid(invoice) ? { path: 'due-date', label: 'Change due date' } : null;
  return (
    <RecordActions
      key={version}
      kind="invoice"
      texts={stepsOf(invoice)}
      record={invoice}
      name={[invoiceName(invoice), total, formatCustomer(customer)].join(', ')}
      primary={payment}
      edit={isOwnDraft(invoice) ? undefined : dueDate}
      except={invoice.amount_paid > 0 ? ['cancel'] : []}
      {...(takesCreditNotes(invoice) && {
        children: <SideButton href={`/admin/invoices/${id}/credit`}>Issue a credit note</SideButton>,
      })}
      removal={
        isOwnDraft(invoice)
          ? 'It has no number yet, so no number is lost. The document it came from can be converted again.'
          : null
      }
    />
  );
}

const stepsOf = ({ invoice_date, due_date }: InvoiceDetails) => ({
  send: {
    label: 'Issue',
    question: 'Issue this invoice?',
    consequences: [
      `Its date is ${formatDate(invoice_date)}, and it is due ${due_date ? `on ${formatDate(due_date)}` : 'at once'}. To change this, edit the draft first.`,
      'It gets its number, and its lines can no longer be changed.',
      'This service sends no e-mail: send the invoice to the customer yourself.',
    ],
    isNext: true,
  },
  cancel: {
    label: 'Cancel invoice',
    question: 'Cancel this invoice?',
    consequences: [
      'It keeps its number, and the customer no longer owes it. A cancellation with its own number is issued for the amount not credited yet.',
      'This cannot be undone.',
    ],
    decline: 'Keep it',
    isGrave: true,
  },
});

export const DONE = {
  created: 'The draft is saved.',
  saved: 'Your changes are saved.',
  send: 'The invoice is issued. No e-mail was sent.',
  cancel: 'The invoice is cancelled, and its cancellation is issued.',
  credit_used: 'The credit pays this invoice.',
  credited: 'The credit note is issued. No e-mail was sent: send it to the customer yourself.',
};

interface NoticesProps {
  invoice: WithMoneyBack<InvoiceDetails>;
  timeZone: string;
  /** Amount recorded here that Stripe does not count as paid. 0 if Stripe counts every payment. */
  uncounted: number;
}

/**
 * Shows notices if the invoice is overdue, owed again after a refund or missing at Stripe, or if Stripe does not count
 * a payment that is recorded here.
 */
export function InvoiceNotices({ invoice, timeZone, uncounted }: NoticesProps) {
  const { currency, provider_gone_at: gone } = invoice;
  const notices: [title: string, text: ReactNode][] = [
    ['Overdue', overdueReason(invoice, timeZone)],
    ['A payment was refunded', refundedReason(invoice)],
    [
      'A recorded payment does not count',
      uncounted > 0 &&
        `${formatMoney(uncounted, currency)} is recorded here, but Stripe manages this invoice and does not count it. Mark the invoice as paid in Stripe, or delete the payment.`,
    ],
    [
      'Not found at Stripe',
      gone && (
        <>
          Stripe no longer had this invoice on <Instant at={gone} timeZone={timeZone} />.
        </>
      ),
    ],
  ];
  const shown = notices.filter(([, text]) => text);
  if (shown.length === 0) return null;
  return (
    <Stack gap="sm" mb="lg">
      {shown.map(([title, text]) => (
        <Alert key={title} color="orange" variant="light" title={title}>
          {text}
        </Alert>
      ))}
    </Stack>
  );
}

/**
 * Explains that a refund made the invoice owed again, and offers a credit note. Returns null if nothing was refunded or
 * nothing is due, or if Stripe manages the invoice.
 */
function refundedReason(invoice: WithMoneyBack<InvoiceDetails>): ReactNode {
  const { id, currency, refunded_amount, amount_due } = invoice;
  if (!isOwnUnpaid(invoice) || refunded_amount === 0 || amount_due === 0) return null;
  return (
    <>
      {formatMoney(refunded_amount, currency)} was refunded. Now {formatMoney(amount_due, currency)} is open.
      If the customer no longer owes this amount,{' '}
      <TextLink href={`/admin/invoices/${id}/credit`}>issue a credit note</TextLink>.
    </>
  );
}

/**
 * Offers the customer's credit as payment for an unpaid invoice. Shows nothing if Stripe manages the invoice, or if the
 * customer has no usable credit in the invoice's currency.
 */
export async function CreditSection({ invoice }: { invoice: WithMoneyBack<InvoiceDetails> }) {
  if (!isOwnUnpaid(invoice)) return null;
  const { db } = await getRuntime();
  const { id, version, currency, amount_due, customer } = invoice;
  const credits = await listUsableCredits(db, customer.id);
  const credit = credits.find((one) => one.currency === currency)?.amount ?? 0;
  if (credit === 0) return null;
  return (
    <Section title="Credit of the customer">
      <ActionForm
        label="Credit"
        keeps
        version={version}
        action={payWithCredit.bind(null, id, version)}
        fields={[
          {
            name: 'amount',
            label: `Amount in ${currency.toUpperCase()}`,
            description: `The customer has ${formatMoney(credit, currency)} credit. The oldest is used first.`,
            inputMode: 'decimal',
            required: true,
          },
        ]}
        typed={{ amount: formatPlainAmount(Math.min(credit, amount_due), currency) }}
        submit="Use credit"
        stack={{ p: 'md', gap: 'sm' }}
        button={{ size: 'sm', variant: 'default', w: 'fit-content' }}
      />
    </Section>
  );
}

/** Returns the reason why an invoice is overdue. Returns null if it is not overdue. */
function overdueReason(invoice: InvoiceDetails, timeZone: string): string | null {
  const { status, payment_failed_at: failed, uncollectible, due_date } = invoice;
  if (status !== 'overdue') return null;
  const reasons: string[] = [];
  if (failed) reasons.push(`A payment failed on ${formatDay(failed, timeZone)}.`);
  if (uncollectible) reasons.push('Stripe has stopped trying to collect it. It can still be paid.');
  if (reasons.length === 0 && due_date) reasons.push(`It was due on ${formatDate(due_date)}.`);
  return reasons.join(' ');
}

interface FactsProps {
  invoice: WithMoneyBack<InvoiceDetails>;
  timeZone: string;
}

/** Shows the dates and amounts of an invoice. Unusual amounts, such as credits, appear only if they are above zero. */
export function InvoiceFacts({ invoice, timeZone }: FactsProps) {
  const money = (amount: number) => <Money amount={amount} currency={invoice.currency} />;
  const moneyIfAny = (amount: number) => (amount > 0 ? money(amount) : undefined);
  const beside = besidePayments(invoice);
  return (
    <Section
      title="Invoice"
      facts={{
        Number: invoice.number ?? 'None yet',
        Date: formatDate(invoice.invoice_date),
        Due: invoice.due_date && formatDate(invoice.due_date),
        Reminded: invoice.reminded_on.map(formatDate).join(', ') || undefined,
        Subtotal: money(invoice.subtotal),
        Tax: money(invoice.tax),
        Total: money(invoice.total),
        Paid: money(invoice.amount_paid),
        'Paid on': invoice.paid_at ? <Instant at={invoice.paid_at} timeZone={timeZone} /> : undefined,
        'Paid outside Stripe': moneyIfAny(beside.offStripe ?? 0),
        Refunded: moneyIfAny(invoice.refunded_amount),
        Credited: moneyIfAny(invoice.amount_credited),
        'Settled with the balance at Stripe': moneyIfAny(beside.fromBalance),
        'Added to the balance at Stripe': moneyIfAny(beside.toBalance),
        'Earlier debt at Stripe, collected with this invoice': moneyIfAny(beside.earlierDebt),
        'Earlier balance or overpayment at Stripe': moneyIfAny(beside.beyondTotal),
        Open: money(invoice.amount_due),
        'Written off': moneyIfAny(beside.writtenOff),
        'Credit (overpaid)': moneyIfAny(beside.overpaid),
      }}
    />
  );
}

/** Shows where an invoice comes from, and whether Stripe manages it. */
export async function OriginFacts({ invoice, timeZone }: FactsProps) {
  const { db } = await getRuntime();
  const { data: documents } = await listSalesDocuments(db, { converted_to_invoice_id: invoice.id });
  const { subscription_id: subscription, stripe_customer_id: stripeCustomer } = invoice;
  return (
    <Section
      title="Origin"
      facts={{
        Managed: invoice.stripe_invoice_id ? 'by Stripe' : 'here',
        'Stripe ID': invoice.stripe_invoice_id ? <StripeId id={invoice.stripe_invoice_id} /> : undefined,
        'Stripe customer': stripeCustomer ? (
          <StripeId id={stripeCustomer} href={`/admin/subscriptions/stripe-customers/${stripeCustomer}`} />
        ) : undefined,
        Subscription: subscription && (
          <TextLink href={`/admin/subscriptions/${subscription}`}>{subscription}</TextLink>
        ),
        'Sales document':
          documents.length > 0
            ? documents.map(({ id, document_number }) => (
                <TextLink key={id} href={`/admin/sales-documents/${id}`} mr="xs">
                  {document_number}
                </TextLink>
              ))
            : null,
        'Last synced': invoice.stripe_synced_at ? (
          <Instant at={invoice.stripe_synced_at} timeZone={timeZone} />
        ) : undefined,
      }}
    />
  );
}

const KINDS = { credit_note: 'Credit note', cancellation: 'Cancellation' };

/** Lists the credit notes and the cancellation of an invoice, each with its files or the reason why it has none. */
export function CreditNoteSection({ notes }: { notes: (CreditNoteRow & { state: DocumentState })[] }) {
  if (notes.length === 0) return null;
  return (
    <Section title="Credit notes">
      <List p="md" size="sm" spacing="xs" listStyleType="none">
        {notes.map(({ id, number, kind, date, total, currency, reason, state }) => {
          const path = `/admin/credit-notes/${id}/document`;
          return (
            <ListItem key={id} className="break-anywhere">
              {KINDS[kind]} {number} of {formatDate(date)}, {formatMoney(total, currency)}
              {reason && `: ${reason}`}{' '}
              {state.isReady ? (
                <DocumentLinks path={path} mx="xs" />
              ) : (
                <Text span size="sm" c="dimmed">
                  No document. {explain(state)}
                </Text>
              )}
            </ListItem>
          );
        })}
      </List>
    </Section>
  );
}

function DocumentLinks({ path, mx }: { path: string; mx?: 'xs' }) {
  const style = { size: 'sm', fw: 500, download: true } as const;
  return (
    <>
      <Anchor href={path} {...style} {...(mx && { mx })}>
        PDF with e-invoice
      </Anchor>
      <Anchor href={`${path}?format=xml`} {...style}>
        XRechnung
      </Anchor>
    </>
  );
}

interface DocumentProps {
  invoice: InvoiceDetails;
  state: DocumentState;
  /** Whether the person may change the company's settings. */
  isAdmin: boolean;
}

/**
 * Shows links to the files of an invoice's document, or why it has no document. If Stripe issued the invoice, also
 * shows links to Stripe's PDF and page.
 */
export function DocumentSection({ invoice, state, isAdmin }: DocumentProps) {
  const { id, customer, stripe_invoice_id } = invoice;
  const stripes = stripe_invoice_id !== null && invoice.status !== 'draft' && <StripeFiles id={id} />;
  if (state.isReady) {
    const path = `/admin/invoices/${id}/document`;
    return (
      <Section title="Document">
        <Group p="md" gap="md">
          <DocumentLinks path={path} />
        </Group>
        {stripes}
      </Section>
    );
  }
  return (
    <Section title="Document">
      <WhyNoDocument
        yet="The invoice has no document yet."
        state={state}
        customerId={customer.id}
        isAdmin={isAdmin}
      />
      {stripes}
    </Section>
  );
}

/** Explains which invoice number is valid, and links to Stripe's PDF and Stripe's hosted page of the invoice. */
function StripeFiles({ id }: { id: number }) {
  const path = `/admin/invoices/${id}/stripe`;
  return (
    <Text px="md" pb="md" size="sm">
      Stripe issued this invoice, so Stripe’s number is the valid one. A document made here has the same
      number. At Stripe:{' '}
      <Anchor href={path} size="sm" rel="noreferrer" underline="always">
        PDF
      </Anchor>
      ,{' '}
      <Anchor href={`${path}?of=page`} size="sm" rel="noreferrer" underline="always">
        page for the customer
      </Anchor>
      .
    </Text>
  );
}
