import { LinkButton } from '../_components/links';
import { MessagePage } from '../_components/message-page';

export default function NotFound() {
  return (
    <MessagePage component="div" title="Not found" text="This record or page does not exist.">
      <LinkButton href="/admin" variant="default">
        Go to the overview
      </LinkButton>
    </MessagePage>
  );
}
