import { LinkButton } from '@/app/_components/links';
import { MessagePage } from '@/app/_components/message-page';

/** Every invalid token gets this same page, so that the page does not reveal whether a login exists. */
export default function NotValid() {
  return (
    <MessagePage
      title="This address is not valid"
      text="An address for creating the first admin works once, within an hour, and only while there are no logins. Until there is a login, the server prints a new address each time it starts."
    >
      <LinkButton href="/sign-in">Sign in</LinkButton>
    </MessagePage>
  );
}
