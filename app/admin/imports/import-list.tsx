import { type ImportRow, importState } from '@/lib/imports/import-log';
import { formatKind } from '../../_components/format';
import { Instant } from '../_components/display/instant';
import { StatusBadge } from '../_components/display/status-badge';
import { RecordList } from '../_components/lists/record-list';
import { countsText } from './counts-text';

interface Props {
  rows: ImportRow[];
  now: Date;
  timeZone: string;
}

/** The log of imports. */
export function ImportList({ rows, now, timeZone }: Props) {
  const status = (row: ImportRow) => <StatusBadge status={importState(row, now)} />;
  return (
    <RecordList
      label="Imports"
      rows={rows}
      keyOf={({ id }) => id}
      nameOf={({ file_name }) => file_name}
      columns={[
        { label: 'Started', cell: (row) => <Instant at={row.created_at} timeZone={timeZone} /> },
        { label: 'File', cell: (row) => row.file_name, wraps: true },
        { label: 'Kind', width: '13%', cell: (row) => formatKind(row.kind) },
        { label: 'Status', width: '12%', cell: status },
        { label: 'Rows', width: '22%', cell: (row) => countsText(row.counts), wraps: true },
        { label: 'By', width: '16%', cell: (row) => row.actor_name, title: (row) => row.actor_name },
      ]}
      entryOf={(row) => ({
        title: row.file_name,
        detail: `${formatKind(row.kind)} · ${countsText(row.counts)}`,
        state: status(row),
      })}
    />
  );
}
