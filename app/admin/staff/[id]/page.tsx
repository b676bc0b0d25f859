import { Stack } from '@mantine/core';
import type { Metadata } from 'next';
import { notFound } from 'next/navigation';
import { listAuditOf } from '@/lib/audit/list-audit';
import { openSessionsOf } from '@/lib/auth/list-staff-users';
import { requireAdmin } from '@/lib/auth/staff-session';
import { getStaffUser } from '@/lib/auth/staff-user';
import { getRuntime } from '@/lib/runtime';
import { formatCount } from '../../../_components/format';
import { orNotFound } from '../../../_components/or-not-found';
import { type SearchParams, toParams } from '../../../_components/search-params';
import { AuditTrail } from '../../_components/audit-trail';
import { Facts } from '../../_components/facts';
import { Instant } from '../../_components/instant';
import { PageHeader } from '../../_components/page-header';
import { Section } from '../../_components/section';
import { PATH } from '../path';
import { ROLE_LABELS, ROLE_TEXTS } from '../role-text';
import { StaffNotice } from '../staff-notice';
import { StaffActions } from './staff-actions';

export const metadata: Metadata = { title: 'Member of staff' };

interface Props {
  params: Promise<{ id: string }>;
  searchParams: Promise<SearchParams>;
}

export default async function StaffUserPage({ params, searchParams }: Props) {
  const self = await requireAdmin();
  const { id } = await params;
  if (!/^[\w-]{1,64}$/.test(id)) notFound();
  const { db, env, now } = await getRuntime();
  const user = await orNotFound(getStaffUser(db, { id }));
  const sessions = await openSessionsOf(db, id, now());
  const history = await listAuditOf(db, 'staff_user', 'id', id);
  const notice = toParams(await searchParams).get('notice');
  const [latest] = sessions;
  return (
    <>
      <PageHeader
        back={{ href: PATH, label: 'Staff' }}
        title={user.name}
        description={user.email}
        actions={<StaffActions key={`${notice} ${user.role}`} user={user} isSelf={user.id === self.id} />}
      />
      <StaffNotice notice={notice} />
      <Stack gap="xl">
        <Section title="Login">
          <Facts
            facts={{
              Role: `${ROLE_LABELS[user.role]}. ${ROLE_TEXTS[user.role]}`,
              Added: <Instant at={user.created_at} timeZone={env.timeZone} />,
              'Signed in': latest ? (
                <>
                  {formatCount(sessions.length, 'session')}, the latest since{' '}
                  <Instant at={latest.signed_in_at} timeZone={env.timeZone} />
                </>
              ) : (
                'No session is open.'
              ),
            }}
          />
        </Section>
        <Section title="History">
          <AuditTrail entries={history} timeZone={env.timeZone} />
        </Section>
      </Stack>
    </>
  );
}
