import type { StaffUser } from '@/lib/auth/staff-user';
import { LinkButton } from '../../../_components/links';
import { ConfirmButton } from '../../_components/forms/confirm-button';
import { PageActions } from '../../_components/page/page-actions';
import { changeRole, remove, resetFactor, signOutEverywhere } from '../actions';

interface Props {
  user: StaffUser;
  /** Whether admins look at their own login. They cannot change their own role or remove themselves. */
  isSelf: boolean;
  /** False until the person accepts the invitation. */
  hasPassword: boolean;
  /** Whether the person has an authenticator app or a passkey. */
  hasFactor: boolean;
}

/** Shows the actions of an admin for a member of staff. */
export function StaffActions({ user, isSelf, hasPassword, hasFactor }: Props) {
  const { id, email, role } = user;
  const page = `/admin/staff/${id}`;
  const toAdmin = role === 'staff';
  const verb = toAdmin ? 'Make admin' : 'Remove admin role';
  return (
    <PageActions
      primary={
        hasPassword ? (
          <LinkButton href={`${page}/password`} size="sm" variant="default">
            Reset password
          </LinkButton>
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
              ? 'They can issue access tokens and manage staff, including you.'
              : 'They lose access to tokens and staff at once. Tokens that they issued stay valid.',
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
