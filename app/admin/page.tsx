import { Group, SimpleGrid, Skeleton } from '@mantine/core';
import { Suspense } from 'react';
import { toCalendarDate } from '@/lib/dates';
import { getMoneyReceived, PERIODS, type Period } from '@/lib/overview/money';
import { getRuntime } from '@/lib/runtime';
import { formatCount, formatDate, formatMoney, formatShortMoney } from '../_components/format';
import { toHref } from '../_components/search-params';
import { BarChart } from './_components/display/charts';
import { BigFigure, Dimmed } from './_components/display/values';
import { Choice, ListSkeleton } from './_components/lists/paged-list';
import { Nothing, Page, Section, staffPage } from './_components/page/staff-page';
import classes from './money.module.css';
import {
  Deliveries,
  Drift,
  LatestPayments,
  OpenFigures,
  SubscriptionStates,
  Tasks,
} from './overview-sections';

export const metadata = { title: 'Overview' };

export default staffPage(async ({ search }) => (
  <Page title="Overview">
    <Tasks />
    <Money period={toPeriod(search.get('days'))} wanted={search.get('currency') ?? undefined} />
    {/* These sections share one Suspense boundary, because a section that arrives later would move the others. */}
    <Suspense fallback={<ListSkeleton rows={12} />}>
      <OpenFigures />
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} spacing="lg" verticalSpacing="xl">
        <SubscriptionStates />
        <Deliveries />
        <Drift />
      </SimpleGrid>
      <LatestPayments />
    </Suspense>
  </Page>
));

function toPeriod(text: string | null): Period {
  return PERIODS.find((days) => String(days) === text) ?? PERIODS[0];
}

interface Props {
  period: Period;
  /** The chosen currency code. Undefined if no currency is chosen. */
  wanted: string | undefined;
}

/** Shows a chart of payments minus refunds and lost disputes: by day, or by week for more than 90 days. */
function Money({ period, wanted }: Props) {
  const options = PERIODS.map((days) => ({
    value: String(days),
    text: `${days} days`,
    href: hrefOf(days, wanted),
  }));
  return (
    <Section
      title="Money received"
      action={<Choice label="Period" current={String(period)} options={options} />}
    >
      <div className={classes.body}>
        <Suspense fallback={<Skeleton flex={1} role="status" aria-label="Loading" />}>
          <Chart period={period} wanted={wanted} />
        </Suspense>
      </div>
    </Section>
  );
}

async function Chart({ period, wanted }: Props) {
  const { db, env, now } = await getRuntime();
  const today = toCalendarDate(now(), env.timeZone);
  const { timeZone } = env;
  const { sums, currency, days } = await getMoneyReceived(db, { today, timeZone }, period, wanted);
  const sum = sums.find((one) => one.currency === currency);
  if (!sum) return <Nothing title="No payments in this period" text="Completed payments appear here." />;
  const money = (amount: number) => formatMoney(amount, sum.currency);
  const isLong = period > 90;
  const count = formatCount(sum.count, 'payment');
  const less = (returned: number) => (returned > 0 ? [`${money(returned)} returned`] : []);
  return (
    <>
      <Group justify="space-between" align="flex-start" px="md" pt="md">
        <div>
          <BigFigure fz="xl">{money(sum.total)}</BigFigure>
          <Dimmed>{[`${count} in ${period} days`, ...less(sum.returned)].join(' · ')}</Dimmed>
        </div>
        {sums.length > 1 && (
          <Choice
            label="Currency"
            current={sum.currency}
            options={sums.map(({ currency: code }) => ({
              value: code,
              text: code.toUpperCase(),
              href: hrefOf(period, code),
            }))}
          />
        )}
      </Group>
      <BarChart
        label={`Money received by ${isLong ? 'week' : 'day'} over ${period} days: ${count}, ${money(sum.total)} in all`}
        bars={(isLong ? byWeek(days) : days).map((day) => ({
          name: day.date,
          value: day.total,
          title: [
            `${isLong ? 'Week from ' : ''}${formatDate(day.date)}: ${money(day.total)}`,
            formatCount(day.count, 'payment'),
            ...less(day.returned),
          ].join(', '),
        }))}
        formatTick={(value) => formatShortMoney(value, sum.currency)}
        ends={[formatDate(days[0]?.date ?? today), formatDate(today)]}
      />
    </>
  );
}

type Days = Awaited<ReturnType<typeof getMoneyReceived>>['days'];

/** Sums up days by week. Counts back from the last day, so that only the first week can have fewer than seven days. */
function byWeek(days: Days): Days {
  const weeks: Days = [];
  for (let end = days.length; end > 0; end -= 7) {
    const week = days.slice(Math.max(0, end - 7), end);
    const sumOf = (of: 'total' | 'count' | 'returned') => week.reduce((sum, day) => sum + day[of], 0);
    weeks.unshift({
      date: week[0]?.date ?? '',
      total: sumOf('total'),
      count: sumOf('count'),
      returned: sumOf('returned'),
    });
  }
  return weeks;
}

function hrefOf(days: Period, currency: string | undefined): string {
  return toHref('/admin', { days: String(days), ...(currency && { currency }) });
}
