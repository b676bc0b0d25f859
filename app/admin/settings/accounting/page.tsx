import { Group, Text } from '@mantine/core';
import { TextLink } from '@/app/_components/links';
import { getAccountingSettings, PRESETS, toTyped } from '@/lib/exports/accounting-settings';
import { etagOf } from '@/lib/http/messages';
import { ActionForm } from '../../_components/forms/form';
import { OutcomeNotice } from '../../_components/forms/record/record-notice';
import { adminPage, FormPage } from '../../_components/page/staff-page';
import { saveAccounts } from '../actions';
import { ACCOUNTING_FIELDS } from './accounting-fields';

export const metadata = { title: 'Accounting' };

const PATH = '/admin/settings/accounting';

export default adminPage(async ({ runtime: { db }, search, notice }) => {
  const settings = await getAccountingSettings(db);
  const chart = search.get('chart');
  const preset = chart === 'skr03' || chart === 'skr04' ? PRESETS[chart] : null;
  const typed = toTyped({ ...settings, ...(preset && { accounts: preset }) });
  return (
    <FormPage
      maw={720}
      title="Accounting"
      description="The accounts to which the DATEV export posts invoices and payments."
    >
      <OutcomeNotice notice={notice} done={{ saved: 'The accounts are saved.' }} />
      <Group gap="md" mb="md">
        <Text size="sm">
          {preset ? 'The form shows the usual accounts. Save it to use them.' : 'Fill in the usual accounts:'}
        </Text>
        <TextLink href={`${PATH}?chart=skr03`}>SKR03</TextLink>
        <TextLink href={`${PATH}?chart=skr04`}>SKR04</TextLink>
      </Group>
      <ActionForm
        key={chart}
        label="Accounting"
        isSheet
        stays
        action={saveAccounts.bind(null, etagOf(settings))}
        fields={ACCOUNTING_FIELDS}
        typed={typed}
        submit="Save"
      />
    </FormPage>
  );
});
