import { type AccessTokenRow, tokenState } from '@/lib/auth/manage-access-tokens';
import { formatInstant } from '../../_components/format';
import { Instant } from '../_components/instant';
import { RecordList } from '../_components/record-list';
import { StatusBadge } from '../_components/status-badge';
import { PATH } from './path';

interface Props {
  tokens: AccessTokenRow[];
  now: Date;
  timeZone: string;
}

export function TokenList({ tokens, now, timeZone }: Props) {
  const state = (token: AccessTokenRow) => <StatusBadge status={tokenState(token, now)} />;
  const time = (at: Date | null, none: string) => (at ? <Instant at={at} timeZone={timeZone} /> : none);
  return (
    <RecordList
      label="Access tokens"
      rows={tokens}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => `${PATH}/${id}`}
      columns={[
        { label: 'Name', cell: ({ name }) => name, title: ({ name }) => name },
        { label: 'State', width: '10%', cell: state },
        {
          label: 'Scopes',
          width: '19%',
          cell: ({ scopes }) => scopes.join(', '),
          title: ({ scopes }) => scopes.join(', '),
        },
        {
          label: 'Created by',
          width: '15%',
          cell: ({ created_by }) => created_by ?? '–',
          title: ({ created_by }) => created_by ?? undefined,
        },
        { label: 'Created', width: '15%', cell: ({ created_at }) => time(created_at, '–') },
        { label: 'Expires', width: '15%', cell: ({ expires_at }) => time(expires_at, 'Never') },
        { label: 'Last used', width: '15%', cell: ({ last_used_at }) => time(last_used_at, 'Never') },
      ]}
      entryOf={(token) => ({
        title: token.name,
        detail: token.last_used_at
          ? `Last used ${formatInstant(token.last_used_at, timeZone)}`
          : `Never used · ${token.scopes.join(', ')}`,
        state: state(token),
      })}
    />
  );
}
