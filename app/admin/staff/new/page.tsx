import { ActionForm } from '../../_components/forms/form';
import { adminPage, FormPage } from '../../_components/page/staff-page';
import { add } from '../actions';
import { GIVEN_PASSWORD, ROLE_LABELS, ROLE_TEXTS } from '../staff-texts';

export const metadata = { title: 'Add a person' };

export default adminPage(async () => (
  <FormPage back={{ href: '/admin/staff', label: 'Staff' }} title="Add a person">
    <ActionForm
      label="Person"
      isSheet
      action={add}
      typed={{ role: 'staff', way: 'invitation' }}
      fields={[
        { name: 'email', label: 'E-mail', type: 'email', maxLength: 254, required: true },
        {
          name: 'name',
          label: 'Name',
          description: 'Leave empty to use the part before the @.',
          maxLength: 100,
        },
        {
          name: 'role',
          label: 'Role',
          kind: 'radios',
          options: (['staff', 'admin'] as const).map((role) => ({
            value: role,
            label: ROLE_LABELS[role],
            description: ROLE_TEXTS[role],
          })),
        },
        { name: 'way', label: 'How they get in', kind: 'radios', options: WAYS },
        { ...GIVEN_PASSWORD, when: { field: 'way', is: 'password' } },
      ]}
      submit="Add person"
      cancel="/admin/staff"
    />
  </FormPage>
));

const WAYS = [
  {
    value: 'invitation',
    label: 'With an invitation link',
    description: 'You send it to them. It works once, within 24 hours, and they choose their password.',
  },
  {
    value: 'password',
    label: 'With a first password',
    description: 'You send it to them, and they replace it when they first sign in.',
  },
];
