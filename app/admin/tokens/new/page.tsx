import { HIDES_TEXT, SCOPE_TEXTS } from '@/app/_components/scope-texts';
import { toCalendarDate } from '@/lib/dates';
import { ActionForm } from '../../_components/forms/form';
import { adminPage, FormPage } from '../../_components/page/staff-page';
import { issue } from '../actions';

export const metadata = { title: 'Issue an access token' };

export default adminPage(async ({ runtime: { env, now } }) => (
  <FormPage
    back={{ href: '/admin/tokens', label: 'Access tokens' }}
    title="Issue an access token"
    description="Issue one for each program, so that you can revoke each separately."
  >
    <ActionForm
      label="Access token"
      isSheet
      action={issue}
      typed={{ expires: '90' }}
      fields={[
        {
          name: 'name',
          label: 'Name',
          description: 'The program that will use it.',
          maxLength: 100,
          required: true,
        },
        {
          name: 'staff_email',
          label: 'Member of staff (optional)',
          type: 'email',
          description: 'Who it belongs to. The call log shows them, and removing them revokes it.',
        },
        {
          name: 'scopes',
          label: 'What it may do',
          kind: 'checks',
          options: Object.entries(SCOPE_TEXTS).map(([value, description]) => ({
            value,
            label: value,
            description,
          })),
        },
        {
          name: 'hides_personal_data',
          label: 'Hide personal data',
          kind: 'flag',
          description: HIDES_TEXT,
        },
        { name: 'expires', label: 'Expires', kind: 'choice', options: EXPIRIES },
        {
          name: 'last_day',
          label: 'Last day',
          type: 'date',
          min: toCalendarDate(now(), env.timeZone),
          required: true,
          when: { field: 'expires', is: 'date' },
        },
      ]}
      submit="Issue token"
      cancel="/admin/tokens"
    />
  </FormPage>
));

const EXPIRIES = [
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In 365 days' },
  { value: 'date', label: 'On a date' },
  { value: 'never', label: 'Never' },
];
