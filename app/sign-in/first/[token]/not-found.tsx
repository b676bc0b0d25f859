import { LinkButton } from '@/app/_components/links';
import { MessagePage } from '@/app/_components/message-page';

/** Every invalid token gets this same page, so that the page does not reveal whether a login exists. */
export default function NotValid() {
  return (
    <MessagePage
      title="This address is not valid"
      text="It creates the first admin: once, within an hour, and only while nobody has a login. Until somebody does, the server prints a new one each time it starts."
    >
      <LinkButton href="/sign-in">Sign in</LinkButton>
    </MessagePage>
  );
}
