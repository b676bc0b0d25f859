import { pastPresets } from '@/lib/date-presets';
import { TOOLS } from '@/lib/mcp/tools';
import { CALL_OUTCOMES, callFilters, listToolCalls, type ToolCallRow } from '@/lib/tool-calls/queries';
import { formatField } from '../../../_components/format';
import type { ListDeclaration } from '../../_components/lists/list-declaration';
import { CallList } from './call-list';

const ROWS = 50;

export const CALLS = {
  title: 'Tool calls',
  description: 'Who asked what over MCP, the latest first. Searched texts are shortened.',
  path: '/admin/tokens/calls',
  noun: 'call',
  yet: 'They appear here a second after they are answered.',
  schema: callFilters,
  fields: ({ today }) => [
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
  read: ({ db, env }, filters, { start }) =>
    listToolCalls(db, filters, { ...start, limit: ROWS, timeZone: env.timeZone }),
  Rows: ({ rows, timeZone }) => <CallList calls={rows} timeZone={timeZone} />,
} satisfies ListDeclaration<typeof callFilters, ToolCallRow>;
