import { hidesPersonalData, SCOPES } from '@/lib/tokens/access-token';
import { type AccessTokenRow, listAccessTokens, tokenState } from '@/lib/tokens/manage-access-tokens';
import { SideButton } from '../../_components/links';
import { toPageRequest } from '../../_components/search-params';
import { Day, Instant, StatusBadge, TwoLines } from '../_components/display/values';
import { NewLink } from '../_components/forms/record/record-list-page';
import { PagedList } from '../_components/lists/paged-list';
import { RecordList } from '../_components/lists/record-list';
import { PageActions } from '../_components/page/page-actions';
import { adminPage, PageHeader } from '../_components/page/staff-page';

export const metadata = { title: 'Access tokens' };

export default adminPage(async ({ runtime: { db, env, now }, search }) => {
  const page = await listAccessTokens(db, toPageRequest(search));
  return (
    <>
      <PageHeader
        title="Access tokens"
        description="Programs and assistants use these to access the payments API and the tools."
        actions={
          <PageActions primary={<NewLink href="/admin/tokens/new">Issue token</NewLink>}>
            <SideButton href="/admin/tokens/calls">Tool calls</SideButton>
            <SideButton href="/admin/tokens/clients">OAuth clients</SideButton>
          </PageActions>
        }
      />
      <PagedList
        page={page}
        noun="access token"
        yet="Issue one for each program, so that you can revoke each separately."
        path="/admin/tokens"
        params={search}
      >
        {(tokens) => <TokenList tokens={tokens} now={now()} timeZone={env.timeZone} />}
      </PagedList>
    </>
  );
});

function TokenList({ tokens, now, timeZone }: { tokens: AccessTokenRow[]; now: Date; timeZone: string }) {
  const state = (token: AccessTokenRow) => <StatusBadge status={tokenState(token, now)} />;
  const day = (at: Date | null) => (at ? <Day at={at} timeZone={timeZone} /> : 'Never');
  return (
    <RecordList
      label="Access tokens"
      rows={tokens}
      hrefOf={({ id }) => `/admin/tokens/${id}`}
      columns={[
        { label: 'Name', cell: nameOf, title: ({ name }) => name },
        { label: 'State', width: '10%', cell: state },
        { label: 'Scopes', width: '20%', wraps: true, cell: scopesOf },
        { label: 'Created by', width: '16%', cell: ({ created_by }) => created_by, title: true },
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
