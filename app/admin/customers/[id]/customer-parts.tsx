import { Group, Stack, Text } from '@mantine/core';
import { formatCount, formatDate, formatMoney, formatNumber, joinTexts } from '@/app/_components/format';
import { LinkButton, TextLink } from '@/app/_components/links';
import type { CustomerRow } from '@/lib/customers/schema';
import type { Balance as CustomerBalance } from '@/lib/invoices/customer-balances';
import type { UnpaidInvoices } from '@/lib/invoices/schema';
import { MAX_RECORDS } from '@/lib/overview/counts';
import type { ListedTransfer } from '@/lib/payments/queries';
import type { Uncounted } from '@/lib/payments/stripe-payment';
import type { RecordState } from '@/lib/records/steps';
import type { listStripeCustomersOf } from '@/lib/sync/staff/stripe-customers';
import { BigFigure, Money } from '../../_components/display/values';
import { ActionForm } from '../../_components/forms/form';
import { ALONE, RecordActions } from '../../_components/forms/record/record-actions';
import { RecordList } from '../../_components/lists/record-list';
import { Section } from '../../_components/page/staff-page';
import { LINKED_BY } from '../../subscriptions/subscription-list';
import { addNote } from '../actions';

interface CustomerActionsProps {
  customer: CustomerRow;
  state: RecordState;
  isAdmin: boolean;
}

/** Shows the actions of a customer. Only admins can merge or erase a customer. */
export function CustomerActions({ customer, state, isAdmin }: CustomerActionsProps) {
  const { id, name, customer_number } = customer;
  return (
    <RecordActions
      kind="customer"
      texts={STEPS}
      record={{ ...customer, version: state.version }}
      name={[name, customer_number].filter(Boolean).join(', ')}
      removal={state.isReferredTo ? null : ALONE}
      grave={ADMIN_PAGES.filter(() => isAdmin).map(([page, label]) => (
        <LinkButton key={page} href={`/admin/customers/${id}/${page}`} size="sm" variant="default">
          {label}
        </LinkButton>
      ))}
    />
  );
}

const ADMIN_PAGES = [
  ['merge', 'Merge with another customer…'],
  ['erase', 'Erase…'],
] as const;

const STAYS =
  'It is marked as inactive in lists and forms. Services, subscriptions and invoices stay as they are, and nothing changes at Stripe.';

const STEPS = {
  reactivate: {
    label: 'Reactivate',
    question: 'Reactivate this customer?',
    consequences: ['It is active again.'],
  },
  deactivate: { label: 'Deactivate', question: 'Deactivate this customer?', consequences: [STAYS] },
};

export const DONE = {
  created: 'The customer is created.',
  saved: 'Your changes are saved.',
  noted: 'The note is added.',
  merged: 'The customers are merged.',
  led_on: 'The customer that you opened was merged into this one.',
  reactivate: 'The customer is active again.',
  deactivate: 'The customer is inactive now.',
  erased: 'The customer is erased.',
  transfer_deleted: 'The transfer is deleted. Its invoices are open again.',
};

export const KEPT = 'Other records refer to this customer, so it cannot be deleted. Deactivate it instead.';

export const ERASED =
  'This customer was erased: its invoices, payments and documents are kept without personal data.';

interface BalanceProps {
  unpaid: UnpaidInvoices;
  /** Number of overdue invoices. `MAX_RECORDS + 1` means that there are more than `MAX_RECORDS`. */
  overdue: number;
  balances: CustomerBalance[];
  /** Overpaid amounts by currency. */
  credits: { currency: string; amount: number }[];
  /** The unused credit of transfers, by currency. */
  transferCredits: { currency: string; amount: number }[];
  statementPath: string;
  /** Path of the form that records a transfer. Null if no transfer can be recorded for the customer. */
  transferPath: string | null;
  /** Up to five invoices that Stripe manages, each with the amount recorded here that Stripe does not count as paid. */
  uncounted: Uncounted[];
}

/** Shows the amounts that a customer owes, and the customer's credit, by currency. */
export function Balance(props: BalanceProps) {
  const { unpaid, overdue, balances, credits, transferCredits, statementPath, transferPath, uncounted } =
    props;
  const total = [unpaid, ...unpaid.other_currencies].reduce((sum, { count }) => sum + count, 0);
  const overdueSums = balances.filter((one) => one.overdue > 0);
  return (
    <Section
      title="Balance due"
      action={
        <Group gap="md">
          <TextLink href={statementPath}>Statement of account</TextLink>
          {transferPath && <TextLink href={transferPath}>Record transfer</TextLink>}
        </Group>
      }
    >
      <Stack gap={2} p="md">
        <BigFigure fz="xl">{formatMoney(unpaid.total, unpaid.currency)}</BigFigure>
        {unpaid.other_currencies.map(({ currency, total: sum }) => (
          <Text key={currency} fw={500} className="figures">
            {formatMoney(sum, currency)}
          </Text>
        ))}
        <Text size="sm" c="dimmed">
          {total === 0 ? 'No unpaid invoices.' : formatCount(total, 'unpaid invoice')}
          {overdue > 0 && (
            <Text span inherit c="var(--mantine-color-orange-light-color)" fw={500}>
              {` · ${overdue > MAX_RECORDS ? `more than ${formatNumber(MAX_RECORDS)}` : overdue} overdue`}
            </Text>
          )}
        </Text>
        {overdueSums.length > 0 && (
          <Text size="sm" c="var(--mantine-color-orange-light-color)" className="figures">
            Overdue: {overdueSums.map((one) => formatMoney(one.overdue, one.currency)).join(' and ')}
          </Text>
        )}
        {credits.map(({ currency, amount }) => (
          <Text key={currency} size="sm" className="figures">
            {`${formatMoney(amount, currency)} credit from overpayment`}
          </Text>
        ))}
        {transferCredits.map(({ currency, amount }) => (
          <Text key={currency} size="sm" className="figures">
            {`${formatMoney(amount, currency)} credit from transfers`}
          </Text>
        ))}
        {uncounted.map(({ id, number, currency, amount }) => (
          <Text key={id} size="sm" c="var(--mantine-color-orange-light-color)" className="figures">
            {`${formatMoney(amount, currency)} is recorded here, but Stripe does not count it: `}
            <TextLink href={`/admin/invoices/${id}`}>{`invoice ${number ?? `#${id}`}`}</TextLink>
          </Text>
        ))}
      </Stack>
    </Section>
  );
}

interface StripeCustomersProps {
  stripeCustomers: Awaited<ReturnType<typeof listStripeCustomersOf>>;
}

/** Lists up to 25 Stripe customers that are linked to a customer, and how each was matched. */
export function StripeCustomers({ stripeCustomers }: StripeCustomersProps) {
  return (
    <Section title="Stripe" none={stripeCustomers.length === 0 && 'No Stripe customer is linked.'}>
      <RecordList
        label="Stripe customers"
        rows={stripeCustomers}
        hrefOf={({ id }) => `/admin/subscriptions/stripe-customers/${id}`}
        columns={[
          { label: 'Stripe customer', cell: ({ id }) => id },
          { label: 'Matched by', width: '55%', wraps: true, cell: (row) => LINKED_BY[row.linked_by] },
        ]}
        entryOf={(row) => ({ title: row.id, detail: LINKED_BY[row.linked_by] })}
      />
    </Section>
  );
}

/** Lists a customer's latest transfers, each with the invoices it pays and its credit. Shows nothing without any. */
export function TransferSection({ transfers }: { transfers: ListedTransfer[] }) {
  if (transfers.length === 0) return null;
  const uses = ({ shares, currency }: ListedTransfer) =>
    shares
      .map(({ invoice_number, invoice_id, amount }) =>
        [invoice_number ?? `#${invoice_id}`, formatMoney(amount, currency)].join(': '),
      )
      .join(', ') || 'No invoice yet';
  const credit = ({ credit, currency }: ListedTransfer) => <Money amount={credit} currency={currency} />;
  const amount = ({ amount, currency }: ListedTransfer) => <Money amount={amount} currency={currency} />;
  return (
    <Section title="Transfers">
      <RecordList
        label="Transfers"
        rows={transfers}
        hrefOf={({ id }) => `/admin/payments/transfers/${id}`}
        columns={[
          { label: 'Date', width: '13%', cell: ({ payment_date }) => formatDate(payment_date) },
          { label: 'Reference', width: '22%', cell: ({ reference }) => reference, title: true },
          { label: 'Used for', wraps: true, cell: uses },
          { label: 'Amount', width: '14%', align: 'right', cell: amount },
          { label: 'Credit', width: '14%', align: 'right', cell: credit },
        ]}
        entryOf={(row) => ({
          title: row.reference,
          detail: joinTexts(formatDate(row.payment_date), uses(row)),
          figure: amount(row),
          state: row.credit > 0 && `${formatMoney(row.credit, row.currency)} credit`,
        })}
      />
    </Section>
  );
}

/** Shows the form that adds a note to a customer. A saved note cannot be changed. */
export function NoteForm({ customerId }: { customerId: number }) {
  return (
    <ActionForm
      label="Note"
      keeps
      action={addNote.bind(null, customerId)}
      fields={[
        {
          name: 'text',
          label: 'Note',
          kind: 'list',
          description: 'Saved with the date and your name; it cannot be changed later.',
          required: true,
        },
      ]}
      submit="Add note"
      stack={{ p: 'md', gap: 'sm' }}
      button={{ size: 'sm', variant: 'default', w: 'fit-content' }}
    />
  );
}
