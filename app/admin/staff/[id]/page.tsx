import { formatCount } from '@/app/_components/format';
import { listAuditOf } from '@/lib/audit/audit-log';
import { getLoginState, openSessionsOf } from '@/lib/staff/manage-staff';
import { AuditTrail } from '../../_components/audit/audit-trail';
import { Facts, Instant } from '../../_components/display/values';
import { OutcomeNotice } from '../../_components/forms/record/record-notice';
import { Page } from '../../_components/page/page-header';
import { Section } from '../../_components/page/section';
import { ROLE_LABELS, ROLE_TEXTS, STAFF_OUTCOMES } from '../staff-texts';
import { staffTitle, staffUserPage } from '../staff-user-page';
import { StaffActions } from './staff-actions';

export const generateMetadata = staffTitle('Member of staff', (name) => name);

export default staffUserPage(async ({ user, isSelf, runtime: { db, env, now }, search }) => {
  const { timeZone } = env;
  const sessions = await openSessionsOf(db, user.id, now());
  const login = await getLoginState(db, user.id);
  const history = await listAuditOf(db, 'staff_user', 'id', user.id);
  const notice = search.get('notice');
  const [latest] = sessions;
  return (
    <Page
      back={{ href: '/admin/staff', label: 'Staff' }}
      title={user.name}
      description={user.email}
      actions={
        <StaffActions
          key={`${notice} ${user.role}`}
          user={user}
          isSelf={isSelf}
          hasPassword={login.hasPassword}
          hasFactor={login.hasApp || login.passkeys > 0}
        />
      }
      notice={<OutcomeNotice notice={notice} {...STAFF_OUTCOMES} />}
    >
      <Section title="Login">
        <Facts
          facts={{
            Role: `${ROLE_LABELS[user.role]}. ${ROLE_TEXTS[user.role]}`,
            Password: passwordText(login),
            'Two-factor': login.hasApp ? 'On' : 'Off',
            Passkeys: login.passkeys,
            Added: <Instant at={user.created_at} timeZone={timeZone} />,
            'Signed in': latest ? (
              <>
                {formatCount(sessions.length, 'session')}, the latest since{' '}
                <Instant at={latest.signed_in_at} timeZone={timeZone} />
              </>
            ) : (
              'No session is open.'
            ),
          }}
        />
      </Section>
      <Section title="History">
        <AuditTrail entries={history} timeZone={timeZone} />
      </Section>
    </Page>
  );
});

function passwordText({ hasPassword, isTemporary }: Awaited<ReturnType<typeof getLoginState>>): string {
  if (!hasPassword) return 'None; the invitation has not been accepted yet';
  return isTemporary ? 'To be replaced at the next sign-in' : 'Set';
}
