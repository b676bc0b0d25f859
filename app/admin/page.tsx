import { SimpleGrid, Stack } from '@mantine/core';
import type { Metadata } from 'next';
import { Suspense } from 'react';
import { requireStaff } from '@/lib/auth/staff-session';
import { PERIODS, type Period } from '@/lib/overview/money';
import { type SearchParams, toParams } from '../_components/search-params';
import { ListSkeleton } from './_components/lists/list-skeleton';
import { PageHeader } from './_components/page/page-header';
import { Money } from './_overview/money';
import {
  Deliveries,
  Drift,
  LatestPayments,
  OpenFigures,
  SubscriptionStates,
  Tasks,
} from './_overview/overview-sections';

export const metadata: Metadata = { title: 'Overview' };

export default async function OverviewPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  await requireStaff();
  const search = toParams(await searchParams);
  return (
    <>
      <PageHeader title="Overview" />
      <Stack gap="xl">
        <Tasks />
        <Money period={toPeriod(search.get('days'))} wanted={search.get('currency') ?? undefined} />
        {/* One boundary for all: a section that arrives later would move the others. */}
        <Suspense fallback={<ListSkeleton rows={12} />}>
          <OpenFigures />
          <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} spacing="lg" verticalSpacing="xl">
            <SubscriptionStates />
            <Deliveries />
            <Drift />
          </SimpleGrid>
          <LatestPayments />
        </Suspense>
      </Stack>
    </>
  );
}

function toPeriod(text: string | null): Period {
  return PERIODS.find((days) => String(days) === text) ?? PERIODS[0];
}
