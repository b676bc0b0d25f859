import { Stack, Text } from '@mantine/core';
import type { Metadata } from 'next';
import { requireStaff } from '@/lib/auth/session/staff-session';
import { toCalendarDate } from '@/lib/dates';
import { EXPORT_NAMES } from '@/lib/exports/kinds';
import { getRuntime } from '@/lib/runtime';
import { formatKind } from '../../_components/format';
import { PageHeader } from '../_components/page/page-header';
import { Section } from '../_components/page/section';
import { ExportForm } from './export-form';
import { latestMonths } from './latest-months';

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
