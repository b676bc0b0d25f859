import { Box, Stack } from '@mantine/core';
import type { Metadata } from 'next';
import { formatField } from '@/app/_components/format';
import { requireAdmin } from '@/lib/auth/staff-session';
import { toCalendarDate } from '@/lib/dates';
import { listNumberSeries } from '@/lib/records/number-series';
import { getRuntime } from '@/lib/runtime';
import { PageHeader } from '../../_components/page/page-header';
import { saveSeries } from './actions';
import { SeriesForm } from './series-form';

export const metadata: Metadata = { title: 'Numbers' };

export default async function NumbersPage() {
  await requireAdmin();
  const { db, env, now } = await getRuntime();
  const year = toCalendarDate(now(), env.timeZone).slice(0, 4);
  return (
    <Box maw={720}>
      <PageHeader
        title="Numbers"
        description="The format of new numbers. Existing numbers stay as they are, and no invoice number is skipped."
      />
      <Stack gap="lg">
        {(await listNumberSeries(db)).map(({ name, ...settings }) => (
          <SeriesForm
            key={name}
            title={`${formatField(name)}s`}
            action={saveSeries.bind(null, name)}
            initial={{
              ...settings,
              width: String(settings.width),
              first_count: String(settings.first_count),
            }}
            year={year}
          />
        ))}
      </Stack>
    </Box>
  );
}
