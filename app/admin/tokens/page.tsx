import { IconPlus } from '@tabler/icons-react';
import type { Metadata } from 'next';
import { requireAdmin } from '@/lib/auth/session/staff-session';
import { listAccessTokens } from '@/lib/auth/tokens/manage-access-tokens';
import { getRuntime } from '@/lib/runtime';
import { LinkButton } from '../../_components/links';
import { type SearchParams, toPageRequest, toParams } from '../../_components/search-params';
import { CountedList } from '../_components/lists/counted-list';
import { PageActions } from '../_components/page/page-actions';
import { PageHeader } from '../_components/page/page-header';
import { TokenList } from './token-list';

export const metadata: Metadata = { title: 'Access tokens' };

export default async function TokensPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  await requireAdmin();
  const params = toParams(await searchParams);
  const { db, env, now } = await getRuntime();
  const page = await listAccessTokens(db, toPageRequest(params));
  return (
    <>
      <PageHeader
        title="Access tokens"
        description="Programs and assistants use these to access the payments API and the tools."
        actions={
          <PageActions
            primary={
              <LinkButton
                href="/admin/tokens/new"
                size="sm"
                leftSection={<IconPlus size={16} stroke={1.8} aria-hidden />}
              >
                Issue token
              </LinkButton>
            }
          >
            <LinkButton href="/admin/tokens/calls" size="sm" variant="default">
              Tool calls
            </LinkButton>
            <LinkButton href="/admin/tokens/clients" size="sm" variant="default">
              OAuth clients
            </LinkButton>
          </PageActions>
        }
      />
      <CountedList
        page={page}
        noun="access token"
        yet="Issue one for each program, so that you can revoke each separately."
        path="/admin/tokens"
        params={params}
      >
        {(tokens) => <TokenList tokens={tokens} now={now()} timeZone={env.timeZone} />}
      </CountedList>
    </>
  );
}
