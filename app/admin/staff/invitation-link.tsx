import type { Invitation } from '@/lib/auth/invitations/invitation';
import { Secret } from '../_components/forms/secret';

/** The invitation address, shown once. */
export function InvitationLink({ email, url, done }: Invitation & { done: string }) {
  return (
    <Secret
      title={`${email} is invited.`}
      name="link"
      text={url}
      advice="Send it to them in a way you trust. It works once, within 24 hours."
      done={done}
    />
  );
}
