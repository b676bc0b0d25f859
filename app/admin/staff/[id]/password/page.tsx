import { Text } from '@mantine/core';
import { resetPassword } from '../../actions';
import { GIVEN_PASSWORD } from '../../staff-texts';
import { StaffFormPage, staffTitle, staffUserPage } from '../../staff-user-page';

export const generateMetadata = staffTitle('Reset a password', (name) => `Reset the password of ${name}`);

export default staffUserPage(async ({ user, isSelf }) => (
  <StaffFormPage
    user={user}
    title="Reset the password"
    description={`${user.email}${isSelf ? ' (you)' : ''}. The old password stops working, all sessions end${isSelf ? ', including this one' : ''}, and connected apps are disconnected.`}
    advice={
      <Text size="sm" c="dimmed" mb="lg">
        The authenticator app and passkeys stay. If someone else may know the password, reset two-factor
        authentication too: they could have added a passkey.
      </Text>
    }
    label="Password"
    isSheet
    action={resetPassword.bind(null, user.id)}
    fields={[GIVEN_PASSWORD]}
    submit="Reset password"
  />
));
