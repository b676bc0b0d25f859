import { formatCount } from '@/app/_components/format';
import { LinkButton, SideButton } from '@/app/_components/links';
import { listAuditOf } from '@/lib/audit/audit-log';
import type { StaffUser } from '@/lib/auth/staff-user';
import { getLoginState, openSessionsOf } from '@/lib/staff/manage-staff';
import { AuditTrail } from '../../_components/audit/audit-trail';
import { Instant } from '../../_components/display/values';
import { ConfirmButton } from '../../_components/forms/confirm-button';
import { OutcomeNotice } from '../../_components/forms/record/record-notice';
import { PageActions } from '../../_components/page/page-actions';
import { Page, Section } from '../../_components/page/staff-page';
import { changeRole, remove, resetFactor, signOutEverywhere } from '../actions';
import { ADMIN_RIGHTS, ROLE_LABELS, ROLE_TEXTS, STAFF_OUTCOMES } from '../staff-texts';
import { staffTitle, staffUserPage } from '../staff-user-page';

export const generateMetadata = staffTitle('Member of staff', (name) => name);

export default staffUserPage(async ({ user, isSelf, db, timeZone, runtime: { now }, notice }) => {
  const sessions = await openSessionsOf(db, user.id, now());
  const login = await getLoginState(db, user.id);
  const history = await listAuditOf(db, 'staff_user', 'id', user.id);
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
      <Section
        title="Login"
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

interface Props {
  user: StaffUser;
  /**
   * Whether the login is the signed-in admin's own. Admins cannot change their own role, reset their own two-factor
   * authentication, or remove themselves.
   */
  isSelf: boolean;
  /** False until the person accepts the invitation. */
  hasPassword: boolean;
  /** Whether the person has an authenticator app or a passkey. */
  hasFactor: boolean;
}

/** Shows the actions that an admin can take on a staff member's login. */
function StaffActions({ user, isSelf, hasPassword, hasFactor }: Props) {
  const { id, email, role } = user;
  const page = `/admin/staff/${id}`;
  const toAdmin = role === 'staff';
  const verb = toAdmin ? 'Make admin' : 'Remove admin role';
  return (
    <PageActions
      primary={
        hasPassword ? (
          <SideButton href={`${page}/password`}>Reset password</SideButton>
        ) : (
          <LinkButton href={`${page}/invitation`} size="sm">
            New invitation
          </LinkButton>
        )
      }
      grave={
        !isSelf && (
          <ConfirmButton
            action={remove.bind(null, id)}
            question="Remove this person?"
            confirm="Remove person"
            color="red.9"
            consequences={[
              email,
              'They are signed out at once and cannot sign in again; access tokens assigned to them are revoked. Their history is kept.',
            ]}
          >
            Remove
          </ConfirmButton>
        )
      }
    >
      {!isSelf && (
        <ConfirmButton
          action={changeRole.bind(null, id, toAdmin ? 'admin' : 'staff')}
          question={toAdmin ? 'Make this person an admin?' : 'Remove this person’s admin role?'}
          consequences={[
            email,
            toAdmin
              ? `They can also ${ADMIN_RIGHTS}, including you.`
              : 'They lose the rights of an admin at once. Tokens that they issued stay valid.',
          ]}
        >
          {verb}
        </ConfirmButton>
      )}
      {hasFactor && !isSelf && (
        <ConfirmButton
          action={resetFactor.bind(null, id)}
          question="Reset this person’s two-factor authentication?"
          confirm="Reset"
          consequences={[
            email,
            'Their authenticator app, recovery codes and passkeys no longer work, and they are signed out. Their password stays.',
          ]}
        >
          Reset two-factor
        </ConfirmButton>
      )}
      <ConfirmButton
        action={signOutEverywhere.bind(null, id)}
        question={isSelf ? 'Sign yourself out everywhere?' : 'Sign this person out everywhere?'}
        confirm="Sign out"
        consequences={[email, 'All sessions end now, in every browser. The password stays.']}
      >
        Sign out everywhere
      </ConfirmButton>
    </PageActions>
  );
}
