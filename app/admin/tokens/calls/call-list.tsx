import type { ToolCallRow } from '@/lib/tool-calls/queries';
import { Instant } from '../../_components/display/instant';
import { StatusBadge } from '../../_components/display/status-badge';
import { RecordList } from '../../_components/lists/record-list';

export function CallList({ calls, timeZone }: { calls: ToolCallRow[]; timeZone: string }) {
  const at = ({ called_at }: ToolCallRow) => <Instant at={called_at} timeZone={timeZone} seconds />;
  return (
    <RecordList
      label="Calls"
      rows={calls}
      keyOf={({ id }) => id}
      columns={[
        { label: 'Called', width: '17%', cell: at },
        { label: 'By', width: '22%', cell: whoOf, title: whoOf },
        { label: 'Tool', width: '18%', cell: ({ tool }) => tool },
        { label: 'Arguments', cell: argumentsOf, title: argumentsOf },
        { label: 'Rows', width: '7%', align: 'right', cell: ({ rows }) => rows },
        { label: 'Time', width: '8%', align: 'right', cell: ({ duration_ms }) => `${duration_ms} ms` },
        { label: 'Outcome', width: '11%', cell: ({ outcome }) => <StatusBadge status={outcome} /> },
      ]}
      entryOf={(call) => ({
        title: call.tool,
        detail: (
          <>
            {at(call)} · {whoOf(call)}
          </>
        ),
        state: <StatusBadge status={call.outcome} />,
      })}
    />
  );
}

function whoOf({ caller_name, staff_email }: ToolCallRow): string {
  return staff_email === null ? caller_name : `${caller_name}, ${staff_email}`;
}

function argumentsOf({ arguments: given }: ToolCallRow): string {
  return Object.entries(given)
    .map(([name, value]) => `${name}: ${Array.isArray(value) ? value.join(', ') : value}`)
    .join(' · ');
}
