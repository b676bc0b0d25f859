import { Alert, Checkbox, Group, Paper, Stack, Text } from '@mantine/core';
import { formatCount, formatCustomer, formatDate, formatMoney, joinTexts } from '@/app/_components/format';
import { TextLink } from '@/app/_components/links';
import { toId, toPageRequest } from '@/app/_components/search-params';
import { type ProposedEntry, proposeFor } from '@/lib/bank/proposals';
import {
  countEntries,
  type EntryRow,
  type ExplainedEntry,
  getStatement,
  listExplained,
  listOpenEntries,
  type StatementRow,
} from '@/lib/bank/queries';
import { proposeReturns, type ReturnProposal } from '@/lib/bank/returns';
import { Dimmed, Instant, Money } from '../../_components/display/values';
import { ActionForm } from '../../_components/forms/form';
import { OutcomeNotice } from '../../_components/forms/record/record-notice';
import { SubmitButton } from '../../_components/forms/submit-button';
import { DownloadButton } from '../../_components/lists/list-page';
import { PagedList } from '../../_components/lists/paged-list';
import { RecordList } from '../../_components/lists/record-list';
import { EmptyText, Page, recordPage, Section, titleOfRow } from '../../_components/page/staff-page';
import { payoutText } from '../../reconciliation/run-text';
import {
  accept,
  acceptExact,
  acceptNamed,
  acceptPayout,
  explain,
  ignoreOut,
  takeBack,
  undo,
} from '../actions';
import { periodOf } from '../list';

export const generateMetadata = titleOfRow(
  'Bank statement',
  getStatement,
  (row) => `Bank statement ${periodOf(row)}`,
);

/** Maximum number of unexplained entries on the page. The next entries appear once these are explained. */
const MAX_SHOWN = 20;

/** Shows a statement with its balances, its first unexplained entries with proposals, and its explained entries. */
export default recordPage(getStatement, async (statement, { db, timeZone, search, notice }) => {
  const counts = await countEntries(db, statement);
  const entries = await listOpenEntries(db, statement, MAX_SHOWN);
  const proposed = await proposeFor(db, entries);
  const returns = new Map<number, ReturnProposal[]>();
  for (const entry of entries) returns.set(entry.id, await proposeReturns(db, entry));
  const exact = exactText(search);
  for (const name of ['booked', 'left']) search.delete(name);
  const page = await listExplained(db, statement, toPageRequest(search));
  const path = `/admin/bank/${statement.id}`;
  return (
    <Page
      back={{ href: '/admin/bank', label: 'Bank statements' }}
      title={periodOf(statement)}
      description={
        <>
          {`${statement.account}, ${statement.file_name}, uploaded by ${statement.actor_name}, `}
          <Instant at={statement.created_at} timeZone={timeZone} />
        </>
      }
      notice={<OutcomeNotice notice={notice} done={{ ...DONE, exact }} refused={REFUSED} />}
      actions={
        <DownloadButton href={`/admin/export/bank-entries?statement=${statement.id}`}>
          Download CSV
        </DownloadButton>
      }
    >
      <Balance statement={statement} />
      <Section
        title="Not explained"
        action={<Buttons statement={statement} proposed={proposed} {...counts} />}
      >
        {entries.length === 0 ? (
          <EmptyText>
            {counts.all === 1
              ? 'None. The only entry in this period is explained.'
              : `None. All ${formatCount(counts.all, 'entry', 'entries')} in this period are explained.`}
          </EmptyText>
        ) : (
          <Stack gap={0} component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
            {proposed.map((one) => (
              <OpenEntry
                key={one.entry.id}
                statement={statement.id}
                returns={returns.get(one.entry.id) ?? []}
                {...one}
              />
            ))}
            {counts.open > entries.length && (
              <EmptyText>{`${formatCount(counts.open - entries.length, 'more entry', 'more entries')} will appear once these are explained.`}</EmptyText>
            )}
          </Stack>
        )}
      </Section>
      <Section title="Explained" isFramed>
        <PagedList
          page={page}
          noun="explained entry"
          nouns="explained entries"
          yet="Entries appear here when they are booked or ignored."
          path={path}
          params={search}
        >
          {(rows) => <Explained rows={rows} statement={statement.id} />}
        </PagedList>
      </Section>
    </Page>
  );
});

const DONE = {
  uploaded: 'The statement is uploaded.',
  ruled: 'The statement is uploaded. Exact matches from remembered accounts were booked automatically.',
  known: 'This file was uploaded before. Nothing has changed.',
  booked: 'The entry is booked.',
  undone: 'The booking is undone. Its invoices are as they were before the booking.',
  returned: 'The return is booked, and the invoices are open again.',
  payout: 'The entry is explained as a Stripe payout.',
  ignored: 'Ignored entries are now listed under Explained.',
  open: 'The entry is open again.',
};
const REFUSED = {
  conflict:
    'Nothing was saved: the entry or an open amount changed in the meantime, or the entry has a transfer of another customer, which you must delete first. This is the latest state.',
  linked: 'Nothing was saved: the entry was booked or explained in the meantime. Undo that to open it again.',
  kept: 'Nothing was undone: the entry changed in the meantime, or money of its transfer was paid back, refunded or returned by the bank. In that case, open the transfer to undo the repayment or to delete the transfer, or undo the entry of the return.',
  validation_failed:
    'Nothing was booked: an invoice can no longer be paid by this entry. This is the latest state.',
  precondition_failed: 'Nothing was undone: the transfer changed in the meantime. Try again.',
  not_found: 'The entry no longer exists.',
};

/** Describes the outcome of booking all exact matches, from the counts that the action adds to the page's query. */
function exactText(search: URLSearchParams): string {
  const countOf = (name: string) => toId(search.get(name) ?? '') ?? 0;
  const [booked, left] = [countOf('booked'), countOf('left')];
  if (booked + left === 0) return 'No open entry matches exactly.';
  const are = (count: number) => formatCount(count, 'exact match is', 'exact matches are');
  const done = `${are(booked)} booked.`;
  if (left === 0) return done;
  return `${done} ${are(left)} left, because it changed in the meantime or another entry paid its invoice. Book it alone to see why.`;
}

function Balance({ statement }: { statement: StatementRow }) {
  const { opening, closing, booked, currency, before, first_day } = statement;
  const amount = (value: number) => <Money amount={value} currency={currency} />;
  const gap = gapText(statement);
  return (
    <Stack gap="md">
      {opening !== null && closing !== null ? (
        <Text>
          Opening {amount(opening)} + booked {amount(booked)} = closing {amount(closing)}
        </Text>
      ) : (
        <Text>Booked {amount(booked)}. The file has no balances, so they cannot be compared.</Text>
      )}
      {gap && before && (
        <Alert color="orange" variant="light" title="Gap before this statement">
          {`${gap} `}
          <TextLink href={`/admin/bank/${before.id}`} underline="always">
            {`Statement until ${formatDate(before.last_day)}`}
          </TextLink>
          {`, before ${formatDate(first_day)}.`}
        </Alert>
      )}
    </Stack>
  );
}

/** Describes the gap between a statement and the previous one. Returns null without a gap, or if periods overlap. */
function gapText({ opening, currency, before, first_day }: StatementRow): string | null {
  if (!before || before.last_day >= first_day) return null;
  const closing = before.closing;
  if (opening === null || closing === null) {
    const days = (Date.parse(first_day) - Date.parse(before.last_day)) / 86_400_000;
    return days > 1 ? 'There are days that neither statement covers.' : null;
  }
  if (opening === closing) return null;
  return `${formatMoney(opening - closing, currency)} is missing between the statements: the previous one closes at ${formatMoney(closing, currency)}, and this one opens at ${formatMoney(opening, currency)}.`;
}

interface ButtonsProps {
  statement: StatementRow;
  proposed: ProposedEntry[];
  open: number;
  outgoing: number;
}

function Buttons({ statement: { id }, proposed, open, outgoing }: ButtonsProps) {
  const mayMatch = open > proposed.length || proposed.some(({ proposals }) => proposals[0]?.is_exact);
  return (
    <Group gap="xs">
      {outgoing > 0 && (
        <form action={ignoreOut.bind(null, id)}>
          <SubmitButton variant="default">{`Ignore ${outgoing} outgoing`}</SubmitButton>
        </form>
      )}
      {mayMatch && (
        <form action={acceptExact.bind(null, id)}>
          <SubmitButton>Book all exact matches</SubmitButton>
        </form>
      )}
    </Group>
  );
}

interface OpenEntryProps extends ProposedEntry {
  /** Id of the statement whose page shows the entry. */
  statement: number;
  /** The payments and transfers whose money this entry may return. */
  returns: ReturnProposal[];
}

function OpenEntry({ statement, entry, proposals, payout, returns }: OpenEntryProps) {
  const { id, day, name, iban, purpose, amount, currency } = entry;
  return (
    <Paper
      component="li"
      p="md"
      radius={0}
      style={{ borderTop: '1px solid var(--mantine-color-default-border)' }}
    >
      <Stack gap="sm">
        <Group justify="space-between" align="flex-start" gap="md" wrap="nowrap">
          <Stack gap={2} miw={0}>
            <Text fw={600} className="break-anywhere">
              {name || 'Name not in the file'}
            </Text>
            <Dimmed className="break-anywhere">{joinTexts(formatDate(day), iban, purpose)}</Dimmed>
          </Stack>
          <Text fw={600} style={{ whiteSpace: 'nowrap' }}>
            <Money amount={amount} currency={currency} />
          </Text>
        </Group>
        {returns.map((one, at) => (
          <ReturnForm key={`${one.kind} ${one.id}`} {...{ statement, entry, one }} isFirst={at === 0} />
        ))}
        {payout && (
          <form
            action={acceptPayout.bind(null, statement, id, payout.id)}
            aria-label={`Accept the payout ${payout.stripe_payout_id}`}
          >
            <Group gap="md" justify="space-between" align="flex-start">
              <Stack gap={2} flex="1 1 260px" miw={0}>
                <Text size="sm" fw={500} className="break-anywhere">
                  {`Stripe payout ${payout.stripe_payout_id}`}
                </Text>
                <Dimmed>{payoutText(payout)}</Dimmed>
              </Stack>
              <SubmitButton size="xs">Accept</SubmitButton>
            </Group>
          </form>
        )}
        {proposals.map((proposal, at) => (
          <ProposalForm key={proposal.customer_id} {...{ statement, entry, proposal }} isFirst={at === 0} />
        ))}
        {amount > 0 && !payout && (
          <details>
            <summary>Book for another customer or invoice</summary>
            <ActionForm
              label={`Book entry ${id}`}
              action={acceptNamed.bind(null, statement, id)}
              fields={[
                {
                  name: 'named',
                  label: 'Customer or invoice number',
                  required: true,
                  maxLength: 100,
                },
                ...(iban
                  ? [{ name: 'remember', label: 'Remember this account', kind: 'flag' as const }]
                  : []),
              ]}
              submit="Book"
              stack={{ pt: 'sm', maw: 420 }}
            />
          </details>
        )}
        <form action={explain.bind(null, statement, id, 'ignored')}>
          <SubmitButton variant="subtle" size="xs">
            Ignore
          </SubmitButton>
        </form>
      </Stack>
    </Paper>
  );
}

interface ProposalProps {
  statement: number;
  entry: EntryRow;
  proposal: ProposedEntry['proposals'][number];
  isFirst: boolean;
}

function ProposalForm({ statement, entry, proposal, isFirst }: ProposalProps) {
  const { customer, customer_id, shares, rest, reasons } = proposal;
  const { id, currency, iban } = entry;
  const numbers = new Map(customer.invoices.map((one) => [one.id, one.number]));
  const paid = shares.map(
    ({ invoice_id, amount }) =>
      `${numbers.get(invoice_id) ?? `#${invoice_id}`} ${formatMoney(amount / 1000, currency)}`,
  );
  const who = formatCustomer({ name: customer.names[0] ?? '', customer_number: customer.customer_number });
  return (
    <form
      action={accept.bind(null, statement, id, customer_id, shares)}
      aria-label={`Book entry ${id} for ${who}`}
    >
      <Group gap="md" justify="space-between" align="flex-start">
        <Stack gap={2} flex="1 1 260px" miw={0}>
          <Text size="sm" fw={500} className="break-anywhere">
            <TextLink href={`/admin/customers/${customer_id}`}>{who}</TextLink>
          </Text>
          <Text size="sm">
            {joinTexts(...paid, rest > 0 && `${formatMoney(rest / 1000, currency)} becomes credit`)}
          </Text>
          <Dimmed>{reasons.join(' ')}</Dimmed>
        </Stack>
        <Group gap="md">
          {iban !== '' && <Checkbox name="remember" label="Remember this account" size="xs" />}
          <SubmitButton variant={isFirst ? 'filled' : 'default'} size="xs">
            Book
          </SubmitButton>
        </Group>
      </Group>
    </form>
  );
}

interface ReturnProps {
  statement: number;
  entry: EntryRow;
  one: ReturnProposal;
  isFirst: boolean;
}

function ReturnForm({ statement, entry, one, isFirst }: ReturnProps) {
  const { kind, id, customer, reference, payment_date, amount, invoice_numbers, reasons } = one;
  return (
    <form
      action={takeBack.bind(null, statement, entry.id, kind, id)}
      aria-label={`Book entry ${entry.id} as the return of ${reference}`}
    >
      <Group gap="md" justify="space-between" align="flex-start">
        <Stack gap={2} flex="1 1 260px" miw={0}>
          <Text size="sm" fw={500} className="break-anywhere">
            {'Returns '}
            <TextLink href={hrefOfReturned(kind, id)} underline="always">
              {reference}
            </TextLink>
            {`, ${formatMoney(amount, entry.currency)} of ${formatDate(payment_date)}`}
          </Text>
          <Text size="sm" className="break-anywhere">
            {joinTexts(
              formatCustomer(customer),
              invoice_numbers.length > 0 && `${invoice_numbers.join(', ')} open again`,
            )}
          </Text>
          <Dimmed>{reasons.join(' ')}</Dimmed>
        </Stack>
        <SubmitButton variant={isFirst ? 'filled' : 'default'} size="xs">
          Book return
        </SubmitButton>
      </Group>
    </form>
  );
}

const hrefOfReturned = (kind: ReturnProposal['kind'], id: number) =>
  kind === 'transfer' ? `/admin/payments/transfers/${id}` : `/admin/payments/${id}`;

/**
 * Returns the URL of the transfer or payment that an entry returned. Returns null if the entry returned neither, or if
 * the record was deleted.
 */
function returnedHref({ returned_transfer_id, returned_payment_id }: ExplainedEntry): string | null {
  if (returned_transfer_id !== null) return hrefOfReturned('transfer', returned_transfer_id);
  return returned_payment_id === null ? null : hrefOfReturned('payment', returned_payment_id);
}

function Explained({ rows, statement }: { rows: ExplainedEntry[]; statement: number }) {
  const change = (row: ExplainedEntry) => {
    const isLinked = (row.transfer_id ?? row.payout_id) !== null || returnedHref(row) !== null;
    const action = isLinked
      ? undo.bind(null, statement, row.id)
      : explain.bind(null, statement, row.id, 'open');
    return (
      <form action={action}>
        <SubmitButton variant="default" size="xs">
          {isLinked ? 'Undo' : 'Reopen'}
        </SubmitButton>
      </form>
    );
  };
  const outcome = (row: ExplainedEntry) => {
    const { transfer_id, payout, customer, state, recorded, amount, currency } = row;
    const returned = returnedHref(row);
    if (returned) return <TextLink href={returned}>Returned payment</TextLink>;
    return payout ? (
      `Stripe payout ${payout.stripe_payout_id}`
    ) : transfer_id === null ? (
      state === 'returned' ? (
        'Returned'
      ) : (
        'Ignored'
      )
    ) : (
      <>
        {row.is_returned && 'Returned: '}
        <TextLink href={`/admin/payments/transfers/${transfer_id}`}>
          {customer && formatCustomer(customer)}
        </TextLink>
        {recorded !== null && recorded !== amount && ` as ${formatMoney(recorded, currency)}`}
      </>
    );
  };
  return (
    <RecordList
      label="Explained entries"
      rows={rows}
      columns={[
        { label: 'Date', width: '12%', cell: ({ day }) => formatDate(day) },
        { label: 'From or to', width: '20%', cell: ({ name }) => name || null, title: true },
        { label: 'Text', cell: ({ purpose }) => purpose || null, title: true },
        {
          label: 'Booked for',
          width: '22%',
          cell: outcome,
          title: ({ customer }) => (customer ? formatCustomer(customer) : undefined),
        },
        {
          label: 'Amount',
          width: '13%',
          align: 'right',
          cell: ({ amount, currency }) => <Money amount={amount} currency={currency} />,
        },
        { label: 'Change', width: '10%', align: 'right', cell: change },
      ]}
      entryOf={(row) => ({
        title: row.name || formatDate(row.day),
        detail: outcome(row),
        figure: <Money amount={row.amount} currency={row.currency} />,
        state: change(row),
      })}
    />
  );
}
