import { Button, Group, NativeSelect, Stack, Text } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import type { Metadata } from 'next';
import type { ReactNode } from 'react';
import { formatKind } from '@/app/_components/format';
import { requireStaff } from '@/lib/auth/staff-session';
import { toCalendarDate } from '@/lib/dates';
import { EXPORT_NAMES } from '@/lib/exports/kinds';
import { getRuntime } from '@/lib/runtime';
import { PageHeader } from '../_components/page/page-header';
import { Section } from '../_components/page/section';

export const metadata: Metadata = { title: 'Export' };

const PATH = '/admin/export';

export default async function ExportPage() {
  await requireStaff();
  const { env, now } = await getRuntime();
  const kinds = EXPORT_NAMES.map((value) => ({ value, label: formatKind(value) }));
  return (
    <>
      <PageHeader title="Export" description="Everything as CSV, with the columns that an import accepts." />
      <Stack gap="xl">
        <Section title="Records">
          <ExportForm
            label="Records"
            path={`${PATH}/records`}
            field={{ name: 'kind', label: 'Kind', options: kinds }}
          />
        </Section>
        <Section title="Accounting">
          <ExportForm
            label="Accounting"
            path={`${PATH}/accounting`}
            field={{
              name: 'month',
              label: 'Month',
              options: latestMonths(toCalendarDate(now(), env.timeZone)),
            }}
          >
            <Text size="sm">
              What is posted in a month: invoices, with a row for each tax rate, payments, and what came back.
              Once the month is over, its file stays the same: what becomes known later is posted in a later
              month.
            </Text>
          </ExportForm>
        </Section>
      </Stack>
    </>
  );
}

interface Props {
  /** What the form is called, for readers. */
  label: string;
  path: string;
  field: { name: string; label: string; options: { value: string; label: string }[] };
  children?: ReactNode;
}

/** Asks what to download: a plain form, since the router would take the file for a page. */
function ExportForm({ label, path, field: { options, ...field }, children }: Props) {
  return (
    <form action={path} method="get" aria-label={label}>
      <Stack gap="sm" p="md">
        {children}
        <Group gap="sm" align="flex-end">
          <NativeSelect {...field} size="sm" data={options} />
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
  );
}

const MONTHS = 36;

/** This month and those before it, the latest first, as options of a select. */
function latestMonths(today: string): { value: string; label: string }[] {
  const [year = 0, month = 1] = today.split('-').map(Number);
  return Array.from({ length: MONTHS }, (_, back) => {
    const value = new Date(Date.UTC(year, month - 1 - back, 1)).toISOString().slice(0, 7);
    return { value, label: value };
  });
}
