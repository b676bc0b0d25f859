import { SubmitButton } from '../../admin/_components/forms/submit-button';
import { signOut } from '../actions';

export function SignOutButton() {
  return (
    <form action={signOut}>
      <SubmitButton variant="subtle" fullWidth>
        Sign out
      </SubmitButton>
    </form>
  );
}
