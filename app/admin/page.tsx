import { Group, SimpleGrid, Stack } from '@mantine/core';
import type { Metadata } from 'next';
import Link from 'next/link';
import { requireStaff } from '@/lib/auth/staff-session';
import { getOverview, RECENT_DAYS } from '@/lib/overview/get-overview';
import { namePayments } from '@/lib/payments/payment-context';
import { listPayments } from '@/lib/payments/queries';
import { getRuntime } from '@/lib/runtime';
import { formatCount, formatInstant } from '../_components/format';
import { TextLink } from '../_components/links';
import { CurrencySums, Figure } from './_components/figure';
import { PageHeader } from './_components/page-header';
import { PaymentList } from './_components/payment-list';
import { Section } from './_components/section';
import { StatusBadge } from './_components/status-badge';
import { TaskList } from './_components/task-list';

export const metadata: Metadata = { title: 'Overview' };

const LATEST = 8;

export default async function OverviewPage() {
  await requireStaff();
  const { db, env, now } = await getRuntime();
  const overview = await getOverview(db, now(), env);
  const latest = await namePayments(db, (await listPayments(db, { per_page: LATEST })).data);
  const { last_run: run, failed_events: failed } = overview;
  return (
    <>
      <PageHeader title="Overview" />
      <Stack gap="xl">
        {overview.tasks.length > 0 && (
          <Section title="Needs a person">
            <TaskList tasks={overview.tasks} />
          </Section>
        )}
        <SimpleGrid cols={{ base: 1, xs: 2, lg: 4 }} spacing="md">
          <Figure
            label="Unpaid invoices"
            note={
              overview.overdue_count > 0 ? `${overview.overdue_count} of them overdue` : 'None is overdue'
            }
          >
            <CurrencySums sums={overview.unpaid_invoices} noun="invoice" />
          </Figure>
          <Figure label={`Payments, last ${RECENT_DAYS} days`} note="Completed ones">
            <CurrencySums sums={overview.recent_payments} noun="payment" />
          </Figure>
          <Figure
            label="Last reconciliation"
            note={
              run ? (
                <Link href={`/admin/reconciliation/${run.id}`}>See the run</Link>
              ) : (
                'It runs daily at 03:40'
              )
            }
            value={run ? formatInstant(run.started_at, env.timeZone) : 'Not yet'}
          >
            {run && (
              <Group gap="xs">
                <StatusBadge status={run.status} />
                {formatCount(run.changes_count, 'change')}
              </Group>
            )}
          </Figure>
          <Figure
            label="Webhook inbox"
            note={<Link href="/admin/webhooks">See the inbox</Link>}
            value={failed > 0 ? formatCount(failed, 'failed event') : 'No failed events'}
          />
        </SimpleGrid>
        <Section title="Latest payments" action={<TextLink href="/admin/payments">All payments</TextLink>}>
          <PaymentList payments={latest} />
        </Section>
      </Stack>
    </>
  );
}
