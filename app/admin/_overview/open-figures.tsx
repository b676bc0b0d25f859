import { SimpleGrid } from '@mantine/core';
import { sumOpenInvoices } from '@/lib/overview/money';
import { getRuntime } from '@/lib/runtime';
import { listRuns } from '@/lib/sync/reconcile/run';
import { formatCount, formatDailyRun } from '../../_components/format';
import { TextLink } from '../../_components/links';
import { CurrencySums, Figure } from '../_components/display/figure';
import { Instant } from '../_components/display/instant';
import { StatusBadge } from '../_components/display/status-badge';
import { OpenDisputes } from './open-disputes';

/** What is owed, and whether the last comparison with Stripe went well. */
export async function OpenFigures() {
  const { db, env } = await getRuntime();
  const { open, overdue } = await sumOpenInvoices(db);
  const [run] = (await listRuns(db, { page: 1, per_page: 1 })).data;
  return (
    <SimpleGrid cols={{ base: 1, sm: 2, lg: 4 }} spacing="lg">
      <Figure
        label="Open invoices"
        note={<TextLink href="/admin/invoices?status=open">Open invoices</TextLink>}
      >
        <CurrencySums sums={open} noun="open invoice" />
      </Figure>
      <Figure label="Overdue" note={<TextLink href="/admin/overdue">Overdue by age</TextLink>}>
        <CurrencySums sums={overdue} noun="overdue invoice" />
      </Figure>
      <OpenDisputes />
      <Figure
        label="Last reconciliation"
        value={run ? <Instant at={run.started_at} timeZone={env.timeZone} /> : 'Not yet'}
        note={
          run ? (
            <TextLink href={`/admin/reconciliation/${run.id}`}>See the run</TextLink>
          ) : (
            `It runs daily at ${formatDailyRun(env.scheduleTimeZone)}`
          )
        }
      >
        {run && (
          <>
            <StatusBadge status={run.status} /> {formatCount(run.changes_count, 'change')}
          </>
        )}
      </Figure>
    </SimpleGrid>
  );
}
