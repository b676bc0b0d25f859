import { Button, Group, NativeSelect, Stack, Text } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { toCalendarDate } from '@/lib/dates';
import { EXPORT_NAMES } from '@/lib/exports/export-csv';
import { formatKind } from '../../_components/format';
import { Page, Section, staffPage } from '../_components/page/staff-page';

export const metadata = { title: 'Export' };

export default staffPage(async ({ runtime: { env, now } }) => {
  const kinds = EXPORT_NAMES.map((value) => ({ value, label: formatKind(value) }));
  const months = latestMonths(toCalendarDate(now(), env.timeZone));
  return (
    <Page title="Export" description="Everything as CSV, with the columns that an import accepts.">
      <ExportForm
        title="Records"
        path="/admin/export/records"
        fields={[{ name: 'kind', label: 'Kind', data: kinds }]}
      />
      <ExportForm
        title="Accounting"
        path="/admin/export/accounting"
        fields={[{ name: 'month', label: 'Month', data: months }, FORM]}
      >
        <Text size="sm">
          What is posted in a month: invoices, with a row for each tax rate, payments, and what came back.
          Once the month is over, its file stays the same: what becomes known later is posted in a later
          month.
        </Text>
      </ExportForm>
    </Page>
  );
});

const FORM = {
  name: 'form',
  label: 'Format',
  data: [
    { value: 'comma', label: 'Commas, and a decimal point' },
    { value: 'semicolon', label: 'Semicolons, and a decimal comma' },
  ],
};

interface Props {
  title: string;
  path: string;
  fields: { name: string; label: string; data: { value: string; label: string }[] }[];
  children?: ReactNode;
}

/** Shows a download form. It is a plain HTML form, because Next's router would treat the file as a page. */
function ExportForm({ title, path, fields, children }: Props) {
  return (
    <Section title={title}>
      <form action={path} method="get" aria-label={title}>
        <Stack gap="sm" p="md">
          {children}
          <Group gap="sm" align="flex-end">
            {fields.map((field) => (
              <NativeSelect key={field.name} {...field} size="sm" />
            ))}
            <Button
              type="submit"
              size="sm"
              variant="default"
              leftSection={<IconDownload size={16} stroke={1.8} aria-hidden />}
            >
              Download CSV
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}

const MONTHS = 36;

/** Returns the current month and the months before it as options of a select, the latest first. */
function latestMonths(today: string): { value: string; label: string }[] {
  const [year = 0, month = 1] = today.split('-').map(Number);
  return Array.from({ length: MONTHS }, (_, back) => {
    const value = new Date(Date.UTC(year, month - 1 - back, 1)).toISOString().slice(0, 7);
    return { value, label: value };
  });
}
