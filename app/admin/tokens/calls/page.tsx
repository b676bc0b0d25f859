import { formatField } from '@/app/_components/format';
import { pastPresets } from '@/lib/dates';
import { TOOLS } from '@/lib/mcp/tools';
import { CALL_OUTCOMES, callFilters, listToolCalls, type ToolCallRow } from '@/lib/tool-calls/tool-calls';
import { Instant, StatusBadge } from '../../_components/display/values';
import { declareList } from '../../_components/lists/list-declaration';
import { ListPage } from '../../_components/lists/list-page';
import { RecordList } from '../../_components/lists/record-list';
import { adminPage } from '../../_components/page/staff-page';

export const metadata = { title: 'Tool calls' };

/** Shows the log of MCP tool calls. */
export default adminPage(async ({ search }) => <ListPage list={CALLS} search={search} />);

const ROWS = 50;

const CALLS = declareList({
  title: 'Tool calls',
  description: 'What was asked over MCP, and by whom, latest first. Search texts are shortened.',
  path: '/admin/tokens/calls',
  noun: 'call',
  yet: 'Calls appear here about a second after they are answered.',
  source: {
    schema: callFilters,
    read: (db, filters, { start }, { env }) =>
      listToolCalls(db, filters, { ...start, limit: ROWS, timeZone: env.timeZone }),
  },
  fields: (today) => [
    { name: 'caller', label: 'Token, app or staff' },
    { name: 'tool', label: 'Tool', options: TOOLS.map(({ name }) => ({ value: name, label: name })) },
    {
      name: 'outcome',
      label: 'Outcome',
      options: CALL_OUTCOMES.map((value) => ({ value, label: formatField(value) })),
    },
    { name: 'customer_id', label: 'Customer', placeholder: 'ID' },
    { name: 'from', label: 'Called', presets: pastPresets(today) },
  ],
  Rows: CallList,
});

function CallList({ rows, timeZone }: { rows: ToolCallRow[]; timeZone: string }) {
  const at = ({ called_at }: ToolCallRow) => <Instant at={called_at} timeZone={timeZone} seconds />;
  return (
    <RecordList
      label="Calls"
      rows={rows}
      columns={[
        { label: 'Called', width: '17%', cell: at },
        { label: 'By', width: '22%', cell: whoOf, title: true },
        { label: 'Tool', width: '18%', cell: ({ tool }) => tool },
        { label: 'Arguments', cell: argumentsOf, title: true },
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
