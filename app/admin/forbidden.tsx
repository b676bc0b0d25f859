import { LinkButton } from '../_components/links';
import { MessagePage } from '../_components/message-page';

export default function Forbidden() {
  return (
    <MessagePage
      component="div"
      title="For admins only"
      text="You do not have the admin role. An admin can give it to you."
    >
      <LinkButton href="/admin" variant="default">
        Go to the overview
      </LinkButton>
    </MessagePage>
  );
}
