import { invite } from '../../actions';
import { StaffFormPage, staffTitle, staffUserPage } from '../../staff-user-page';

export const generateMetadata = staffTitle('New invitation', (name) => `New invitation for ${name}`);

export default staffUserPage(async ({ user }) => (
  <StaffFormPage
    user={user}
    title="New invitation"
    description={`${user.email}. The previous link will stop working.`}
    label="Invitation"
    action={invite.bind(null, user.id)}
    submit="Create invitation link"
  />
));
