import { Paper } from '@mantine/core';
import { formatCustomer } from '@/app/_components/format';
import { listRules, type RuleRow } from '@/lib/bank/queries';
import { MAX_STATEMENT_BYTES } from '@/lib/bank/statement';
import { getCompany, ownIbans } from '@/lib/documents/company';
import { ConfirmButton } from '../_components/forms/confirm-button';
import { OutcomeNotice } from '../_components/forms/record/record-notice';
import { ListPage } from '../_components/lists/list-page';
import { RecordList } from '../_components/lists/record-list';
import { EmptyText, Section, staffPage } from '../_components/page/staff-page';
import { CustomerCell } from '../_components/records/customer-link';
import { forget } from './actions';
import { BANK_STATEMENTS } from './list';
import { UploadForm } from './upload-form';

export const metadata = { title: BANK_STATEMENTS.title };

export default staffPage(async ({ db, search, notice }) => {
  const accounts = ownIbans(await getCompany(db));
  const rules = await listRules(db);
  return (
    <>
      <ListPage
        list={BANK_STATEMENTS}
        search={search}
        notice={<OutcomeNotice notice={notice} done={{ forgotten: 'The account is forgotten.' }} />}
      >
        <Upload accounts={accounts} />
      </ListPage>
      {rules.length > 0 && <Rules rules={rules} />}
    </>
  );
});

function Upload({ accounts }: { accounts: string[] }) {
  if (accounts.length === 0) {
    return (
      <EmptyText>
        The company has no IBAN yet. Once an admin has entered it under Company, you can upload statements of
        this account.
      </EmptyText>
    );
  }
  const choice = { value: '', label: 'The account named in the file' };
  const options = [choice, ...accounts.map((iban) => ({ value: iban, label: iban }))];
  return (
    <Paper withBorder radius="lg" p="lg" mb="lg">
      <UploadForm
        fields={[
          ...(accounts.length > 1
            ? [{ name: 'account', label: 'Account', kind: 'choice' as const, options }]
            : []),
          {
            name: 'file',
            label: 'File from your bank',
            type: 'file',
            accept: '.xml,.sta,.mt940,.940,.txt,.csv',
            maxBytes: MAX_STATEMENT_BYTES,
            required: true,
            description: `CAMT.053, MT940 or CSV of the account ${accounts.join(' or ')}, up to ${MAX_STATEMENT_BYTES / 1e6} MB.`,
          },
        ]}
      />
    </Paper>
  );
}

function Rules({ rules }: { rules: RuleRow[] }) {
  const forgetButton = (rule: RuleRow) => (
    <ConfirmButton
      action={forget.bind(null, rule.id)}
      question="Forget this account?"
      confirm="Forget account"
      consequences={[
        `${rule.iban}, ${formatCustomer(rule.customer)}`,
        'Money from this account is no longer booked automatically. Existing bookings stay.',
      ]}
      size="xs"
    >
      Forget
    </ConfirmButton>
  );
  return (
    <Section title="Remembered accounts">
      <RecordList
        label="Remembered accounts"
        rows={rules}
        columns={[
          { label: 'Account', cell: ({ iban }) => iban, title: true },
          { label: 'Customer', width: '32%', cell: ({ customer }) => <CustomerCell customer={customer} /> },
          { label: 'By', width: '22%', cell: ({ actor_name }) => actor_name, title: true },
          { label: 'Change', width: '14%', align: 'right', cell: forgetButton },
        ]}
        entryOf={(rule) => ({
          title: rule.iban,
          detail: formatCustomer(rule.customer),
          figure: forgetButton(rule),
        })}
      />
    </Section>
  );
}
