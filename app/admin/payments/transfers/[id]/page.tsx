import { Stack } from '@mantine/core';
import { formatDate, formatMoney } from '@/app/_components/format';
import { LinkButton, SideButton } from '@/app/_components/links';
import { getTransfer, listShares, type TransferRow } from '@/lib/payments/queries';
import { History } from '../../../_components/audit/audit-trail';
import { Instant, Money, StatusBadge } from '../../../_components/display/values';
import { ConfirmButton } from '../../../_components/forms/confirm-button';
import { RecordNotice } from '../../../_components/forms/record/record-notice';
import { RecordList } from '../../../_components/lists/record-list';
import { PageActions } from '../../../_components/page/page-actions';
import {
  Columns,
  EmptyText,
  orNotFound,
  Page,
  recordPage,
  Section,
  titleOfRow,
} from '../../../_components/page/staff-page';
import { CustomerSection } from '../../../_components/records/customer-link';
import { readCustomer } from '../../../customers/form-parts';
import { remove, withdraw } from '../actions';

export const generateMetadata = titleOfRow('Transfer', getTransfer, (one) => `Transfer ${one.reference}`);

/** Shows a transfer with its payments, its unused credit, and the credit that was paid back. */
export default recordPage(getTransfer, async (transfer, { id, db, timeZone, notice }) => {
  const customer = await orNotFound(readCustomer(db, transfer.customer_id));
  const { amount, credit, currency, payment_date, reference, method } = transfer;
  return (
    <Page
      back={{ href: `/admin/customers/${transfer.customer_id}`, label: 'Customer' }}
      title={`Transfer of ${formatMoney(amount, currency)}`}
      description={reference}
      actions={<TransferActions key={transfer.version} transfer={transfer} />}
      notice={<RecordNotice notice={notice} done={DONE} refused={REFUSED} />}
    >
      <Columns>
        <Section
          title="Transfer"
          facts={{
            ID: id,
            Reference: reference,
            Amount: <Money amount={amount} currency={currency} />,
            Credit: <Money amount={credit} currency={currency} />,
            Date: formatDate(payment_date),
            Method: method ?? undefined,
            Created: <Instant at={transfer.created_at} timeZone={timeZone} />,
            Updated: <Instant at={transfer.updated_at} timeZone={timeZone} />,
          }}
        />
        <CustomerSection customer={customer} all={{ path: '/admin/payments', label: 'All payments' }} />
      </Columns>
      <Shares transfer={transfer} rows={await listShares(db, reference)} />
      <PaidBack transfer={transfer} />
      <History entity="transfer" id={id} kept={null} />
    </Page>
  );
});

const DONE = {
  recorded: 'The transfer is recorded.',
  edited: 'The transfer is corrected.',
  paid_back: 'The credit is recorded as paid back.',
  withdrawn: 'The amount is customer credit again.',
};
const REFUSED = {
  precondition_failed:
    'The transfer changed in the meantime, so nothing was saved. This is the latest version.',
  not_found: 'This entry was withdrawn in the meantime.',
};

function TransferActions({ transfer }: { transfer: TransferRow }) {
  const { id, version, customer_id, credit, amount, currency, reference } = transfer;
  const page = `/admin/payments/transfers/${id}`;
  return (
    <PageActions
      primary={
        credit > 0 && (
          <LinkButton href={`${page}/pay-back`} size="sm">
            Pay back credit
          </LinkButton>
        )
      }
      grave={
        <ConfirmButton
          action={remove.bind(null, id, version, customer_id)}
          question="Delete this transfer?"
          confirm="Delete transfer"
          color="red.9"
          consequences={[
            `${formatMoney(amount, currency)}, ${reference}`,
            'All its payments are deleted, and their invoices are open again. Its credit, and amounts recorded as refunded or paid back, are removed. The history is kept.',
          ]}
        >
          Delete
        </ConfirmButton>
      }
    >
      <SideButton href={`${page}/edit`}>Correct</SideButton>
    </PageActions>
  );
}

type Share = Awaited<ReturnType<typeof listShares>>[number];

function Shares({ transfer: { currency }, rows }: { transfer: TransferRow; rows: Share[] }) {
  const nameOf = ({ invoice_number, invoice_id }: Share) => invoice_number ?? `#${invoice_id}`;
  const refunded = ({ refunded_amount }: Share) =>
    refunded_amount > 0 && <Money amount={refunded_amount} currency={currency} />;
  return (
    <Section title="Payments">
      {rows.length === 0 ? (
        <EmptyText>None. You can use the credit on the page of an unpaid invoice.</EmptyText>
      ) : (
        <RecordList
          label="Payments"
          rows={rows}
          hrefOf={({ id }) => `/admin/payments/${id}`}
          columns={[
            { label: 'Reference', cell: ({ payment_reference }) => payment_reference, title: true },
            { label: 'Invoice', width: '24%', cell: nameOf },
            { label: 'Status', width: '16%', cell: ({ status }) => <StatusBadge status={status} /> },
            { label: 'Refunded', width: '15%', align: 'right', cell: refunded },
            {
              label: 'Amount',
              width: '15%',
              align: 'right',
              cell: ({ amount }) => <Money amount={amount} currency={currency} />,
            },
          ]}
          entryOf={(row) => ({
            title: row.payment_reference,
            detail: `Invoice ${nameOf(row)}`,
            figure: <Money amount={row.amount} currency={currency} />,
            state: <StatusBadge status={row.status} />,
          })}
        />
      )}
    </Section>
  );
}

/** Lists the amounts of credit that were paid back. Shows nothing if no credit was paid back. */
function PaidBack({ transfer: { id, version, paid_back, currency } }: { transfer: TransferRow }) {
  if (paid_back.length === 0) return null;
  const rows = paid_back.map((one, position) => ({ id: position, ...one }));
  const figure = ({ amount }: (typeof rows)[number]) => <Money amount={amount} currency={currency} />;
  const undo = (row: (typeof rows)[number]) =>
    row.isReturn ? (
      'Returned by the bank'
    ) : (
      <ConfirmButton
        action={withdraw.bind(null, id, version, row.id)}
        question="Withdraw this entry?"
        confirm="Make it credit again"
        consequences={[
          `${formatMoney(row.amount, currency)} was not paid back, and becomes customer credit again.`,
        ]}
        size="xs"
      >
        Withdraw
      </ConfirmButton>
    );
  return (
    <Section title="Paid back">
      <Stack gap={0}>
        <RecordList
          label="Paid back"
          rows={rows}
          columns={[
            { label: 'Date', cell: ({ date }) => formatDate(date) },
            { label: 'Amount', width: '25%', align: 'right', cell: figure },
            { label: 'Change', width: '25%', align: 'right', cell: undo },
          ]}
          entryOf={(row) => ({ title: formatDate(row.date), figure: figure(row), detail: undo(row) })}
        />
      </Stack>
    </Section>
  );
}
