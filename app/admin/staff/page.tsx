import { Box } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import type { Metadata } from 'next';
import { isTwoFactorRequired } from '@/lib/auth/second-factor/demand';
import { requireAdmin } from '@/lib/auth/session/staff-session';
import { listStaffUsers } from '@/lib/auth/staff/list-staff-users';
import { getRuntime } from '@/lib/runtime';
import { LinkButton } from '../../_components/links';
import { type SearchParams, toPageRequest, toParams } from '../../_components/search-params';
import { CountedList } from '../_components/lists/counted-list';
import { PageHeader } from '../_components/page/page-header';
import { StaffList } from './staff-list';
import { StaffNotice } from './staff-notice';
import { TwoFactorRule } from './two-factor-rule';

export const metadata: Metadata = { title: 'Staff' };

export default async function StaffPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  const { id: self } = await requireAdmin();
  const params = toParams(await searchParams);
  const { db, env, now } = await getRuntime();
  const page = await listStaffUsers(db, toPageRequest(params), now());
  const notice = params.get('notice');
  params.delete('notice');
  return (
    <>
      <PageHeader
        title="Staff"
        description="Everyone who can sign in here."
        actions={
          <LinkButton
            href="/admin/staff/new"
            size="sm"
            leftSection={<IconPlus size={16} stroke={1.8} aria-hidden />}
          >
            Add person
          </LinkButton>
        }
      />
      <StaffNotice notice={notice} />
      <CountedList
        page={page}
        noun="person"
        nouns="people"
        yet="Add the first one."
        path="/admin/staff"
        params={params}
      >
        {(staff) => <StaffList staff={staff} self={self} timeZone={env.timeZone} />}
      </CountedList>
      <Box mt="xl">
        <TwoFactorRule key={notice} isRequired={await isTwoFactorRequired(db)} />
      </Box>
    </>
  );
}
