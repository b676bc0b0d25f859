import { Stack } from '@mantine/core';
import { notFound } from 'next/navigation';
import { formatCount } from '@/app/_components/format';
import { listAuditOf } from '@/lib/audit/audit-log';
import { requireAdmin } from '@/lib/auth/staff-session';
import { getStaffUser } from '@/lib/auth/staff-user';
import { getRuntime } from '@/lib/runtime';
import { getLoginState, openSessionsOf } from '@/lib/staff/manage-staff';
import { orNotFound } from '../../../_components/or-not-found';
import { type SearchParams, toParams } from '../../../_components/search-params';
import { AuditTrail } from '../../_components/audit/audit-trail';
import { Facts, Instant } from '../../_components/display/values';
import { PageHeader } from '../../_components/page/page-header';
import { Section } from '../../_components/page/section';
import { titleOf } from '../../_components/page/title-of';
import { ROLE_LABELS, ROLE_TEXTS } from '../role-text';
import { StaffNotice } from '../staff-notice';
import { StaffActions } from './staff-actions';

export const generateMetadata = titleOf('Member of staff', async (id, { runtime, staff }) =>
  staff.role === 'admin' ? (await getStaffUser(runtime.db, { id })).name : null,
);

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
  const login = await getLoginState(db, id);
  const history = await listAuditOf(db, 'staff_user', 'id', id);
  const notice = toParams(await searchParams).get('notice');
  const [latest] = sessions;
  return (
    <>
      <PageHeader
        back={{ href: '/admin/staff', label: 'Staff' }}
        title={user.name}
        description={user.email}
        actions={
          <StaffActions
            key={`${notice} ${user.role}`}
            user={user}
            isSelf={user.id === self.id}
            hasPassword={login.hasPassword}
            hasFactor={login.hasApp || login.passkeys > 0}
          />
        }
      />
      <StaffNotice notice={notice} />
      <Stack gap="xl">
        <Section title="Login">
          <Facts
            facts={{
              Role: `${ROLE_LABELS[user.role]}. ${ROLE_TEXTS[user.role]}`,
              Password: login.hasPassword
                ? login.isTemporary
                  ? 'To be replaced at the next sign-in'
                  : 'Set'
                : 'None; the invitation has not been accepted yet',
              'Two-factor': login.hasApp ? 'On' : 'Off',
              Passkeys: login.passkeys,
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
