import { LinkButton } from '../../../_components/links';
import { MessagePage } from '../../../_components/message-page';

/** The same to everybody: who is invited is told to nobody who guesses. */
export default function NotValid() {
  return (
    <MessagePage
      title="This invitation is not valid"
      text="An invitation works once, within 24 hours, and only until a newer one is created. Ask an admin for a new one."
    >
      <LinkButton href="/sign-in">Sign in</LinkButton>
    </MessagePage>
  );
}
