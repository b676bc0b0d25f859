import type { RunRow } from '@/lib/sync/reconcile/run';
import { formatCount, formatDuration, formatNumber } from '../../_components/format';
import { Instant } from '../_components/display/instant';
import { StatusBadge } from '../_components/display/status-badge';
import { RecordList } from '../_components/lists/record-list';
import { triggerText } from './run-text';

export function RunList({ runs, timeZone }: { runs: RunRow[]; timeZone: string }) {
  return (
    <RecordList
      label="Runs"
      rows={runs}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => `/admin/reconciliation/${id}`}
      nameOf={({ id }) => `Run ${id}`}
      columns={[
        { label: 'Started', cell: (run) => <Instant at={run.started_at} timeZone={timeZone} /> },
        { label: 'Status', width: '20%', cell: (run) => <StatusBadge status={run.status} /> },
        { label: 'Started by', width: '18%', cell: triggerText },
        { label: 'Checked', width: '10%', align: 'right', cell: (run) => formatNumber(run.objects_checked) },
        { label: 'Changes', width: '10%', align: 'right', cell: (run) => formatNumber(run.changes_count) },
        { label: 'Failures', width: '10%', align: 'right', cell: (run) => formatNumber(run.failures_count) },
        { label: 'Duration', width: '12%', align: 'right', cell: durationOf },
      ]}
      entryOf={(run) => ({
        title: `Run ${run.id}`,
        detail: (
          <>
            <Instant at={run.started_at} timeZone={timeZone} />
            {` · ${triggerText(run)} · ${formatCount(run.changes_count, 'change')}`}
            {run.failures_count > 0 && ` · ${formatCount(run.failures_count, 'failure')}`}
          </>
        ),
        state: <StatusBadge status={run.status} />,
      })}
    />
  );
}

function durationOf({ started_at, finished_at }: RunRow): string {
  return finished_at ? formatDuration(started_at, finished_at) : '–';
}
