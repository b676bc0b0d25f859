import { LinkButton } from '@/app/_components/links';
import { MessagePage } from '@/app/_components/message-page';

/** Every invalid token gets this same page, so that the page does not reveal who was invited. */
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
