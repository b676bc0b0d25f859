import { LinkButton } from '../../../_components/links';
import { MessagePage } from '../../../_components/message-page';

/** The same to everybody: whether there is a login yet is told to nobody who guesses. */
export default function NotValid() {
  return (
    <MessagePage
      title="This address is not valid"
      text="It makes the first admin, once, within an hour, and only while nobody has a login. As long as that is so, each start of the server prints a new one."
    >
      <LinkButton href="/sign-in">Sign in</LinkButton>
    </MessagePage>
  );
}
