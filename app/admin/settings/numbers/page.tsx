import { Stack } from '@mantine/core';
import { formatField } from '@/app/_components/format';
import { toCalendarDate } from '@/lib/dates';
import { etagOf } from '@/lib/http/messages';
import { listNumberSeries } from '@/lib/records/number-series';
import { adminPage, FormPage } from '../../_components/page/staff-page';
import { saveSeries } from '../actions';
import { SeriesForm } from './series-form';

export const metadata = { title: 'Numbers' };

export default adminPage(async ({ runtime: { db, env, now } }) => {
  const year = toCalendarDate(now(), env.timeZone).slice(0, 4);
  return (
    <FormPage
      maw={720}
      title="Numbers"
      description="The format of new numbers. Existing numbers stay as they are, and no invoice number is skipped."
    >
      <Stack gap="lg">
        {(await listNumberSeries(db)).map((series) => (
          <SeriesForm
            key={series.name}
            title={`${formatField(series.name)}s`}
            action={saveSeries.bind(null, series.name)}
            etag={etagOf(series)}
            initial={{
              ...series,
              width: String(series.width),
              first_count: String(series.first_count),
            }}
            year={year}
          />
        ))}
      </Stack>
    </FormPage>
  );
});
