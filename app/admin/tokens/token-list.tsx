import { hidesPersonalData, SCOPES } from '@/lib/auth/tokens/access-token';
import { type AccessTokenRow, tokenState } from '@/lib/auth/tokens/manage-access-tokens';
import { Day, Instant } from '../_components/display/instant';
import { StatusBadge } from '../_components/display/status-badge';
import { TwoLines } from '../_components/display/two-lines';
import { RecordList } from '../_components/lists/record-list';

interface Props {
  tokens: AccessTokenRow[];
  now: Date;
  timeZone: string;
}

export function TokenList({ tokens, now, timeZone }: Props) {
  const state = (token: AccessTokenRow) => <StatusBadge status={tokenState(token, now)} />;
  const day = (at: Date | null) => (at ? <Day at={at} timeZone={timeZone} /> : 'Never');
  return (
    <RecordList
      label="Access tokens"
      rows={tokens}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => `/admin/tokens/${id}`}
      columns={[
        { label: 'Name', cell: nameOf, title: ({ name }) => name },
        { label: 'State', width: '10%', cell: state },
        { label: 'Scopes', width: '20%', wraps: true, cell: scopesOf },
        {
          label: 'Created by',
          width: '16%',
          cell: ({ created_by }) => created_by ?? '–',
          title: ({ created_by }) => created_by ?? undefined,
        },
        { label: 'Created', width: '11%', cell: ({ created_at }) => day(created_at) },
        { label: 'Expires', width: '11%', cell: ({ expires_at }) => day(expires_at) },
        { label: 'Last used', width: '11%', cell: ({ last_used_at }) => day(last_used_at) },
      ]}
      entryOf={(token) => ({
        title: nameOf(token),
        detail: (
          <>
            {token.expires_at && <>Expires {day(token.expires_at)} · </>}
            {token.last_used_at ? (
              <>
                Last used <Instant at={token.last_used_at} timeZone={timeZone} />
              </>
            ) : (
              `Never used · ${scopesOf(token)}`
            )}
          </>
        ),
        state: state(token),
      })}
    />
  );
}

function nameOf({ name, staff_email }: AccessTokenRow) {
  return staff_email === null ? name : <TwoLines below={staff_email}>{name}</TwoLines>;
}

function scopesOf(token: AccessTokenRow): string {
  const scopes = SCOPES.filter((scope) => token.scopes.includes(scope)).join(', ');
  return hidesPersonalData(token) ? `${scopes}; personal data hidden` : scopes;
}
