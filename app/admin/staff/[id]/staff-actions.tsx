import { Group } from '@mantine/core';
import type { StaffUser } from '@/lib/auth/staff-user';
import { LinkButton } from '../../../_components/links';
import { ConfirmButton } from '../../_components/confirm-button';
import { PATH } from '../path';
import { changeRole, remove, signOutEverywhere } from './actions';

interface Props {
  user: StaffUser;
  /** Nobody changes their own role or removes themselves. */
  isSelf: boolean;
}

/** What an admin can do with a member of staff. */
export function StaffActions({ user, isSelf }: Props) {
  const { id, email } = user;
  return (
    <Group gap="xs">
      {!isSelf && <RoleButton user={user} />}
      <LinkButton href={`${PATH}/${id}/password`} size="sm" variant="default">
        Reset password
      </LinkButton>
      <ConfirmButton
        action={signOutEverywhere.bind(null, id)}
        question={isSelf ? 'Sign yourself out everywhere?' : 'Sign this person out everywhere?'}
        confirm="Sign out"
        consequences={[email, 'All sessions end now, in every browser. The password stays.']}
      >
        Sign out everywhere
      </ConfirmButton>
      {!isSelf && (
        <ConfirmButton
          action={remove.bind(null, id)}
          question="Remove this person?"
          confirm="Remove person"
          color="red.9"
          consequences={[
            email,
            'They are signed out at once and cannot sign in again. Their history is kept.',
          ]}
        >
          Remove
        </ConfirmButton>
      )}
    </Group>
  );
}

function RoleButton({ user: { id, email, role } }: { user: StaffUser }) {
  const toAdmin = role === 'staff';
  const verb = toAdmin ? 'Make admin' : 'Take admin role';
  return (
    <ConfirmButton
      action={changeRole.bind(null, id, toAdmin ? 'admin' : 'staff')}
      question={toAdmin ? 'Make this person an admin?' : 'Take the admin role from this person?'}
      confirm={verb}
      consequences={[
        email,
        toAdmin
          ? 'They can issue access tokens and manage staff, you among them.'
          : 'From their next request on they see neither tokens nor staff. What they issued stays valid.',
      ]}
    >
      {verb}
    </ConfirmButton>
  );
}
