import { SimpleGrid } from '@mantine/core';
import { Suspense } from 'react';
import { PERIODS, type Period } from '@/lib/overview/money';
import { ListSkeleton } from './_components/lists/list-skeleton';
import { Page } from './_components/page/page-header';
import { staffPage } from './_components/page/staff-page';
import { Money } from './_overview/money';
import {
  Deliveries,
  Drift,
  LatestPayments,
  OpenFigures,
  SubscriptionStates,
  Tasks,
} from './_overview/overview-sections';

export const metadata = { title: 'Overview' };

export default staffPage(async ({ search }) => (
  <Page title="Overview">
    <Tasks />
    <Money period={toPeriod(search.get('days'))} wanted={search.get('currency') ?? undefined} />
    {/* One boundary for all sections, since a section that arrives later would move the others. */}
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
