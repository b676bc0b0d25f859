import { Box, Group, Text } from '@mantine/core';
import { isTwoFactorRequired } from '@/lib/auth/find-staff';
import { listStaffUsers, type StaffListRow } from '@/lib/staff/manage-staff';
import { formatCount } from '../../_components/format';
import { toPageRequest } from '../../_components/search-params';
import { Instant } from '../_components/display/values';
import { ConfirmButton } from '../_components/forms/confirm-button';
import { NewLink } from '../_components/forms/record/record-list-page';
import { OutcomeNotice } from '../_components/forms/record/record-notice';
import { PagedList } from '../_components/lists/paged-list';
import { RecordList } from '../_components/lists/record-list';
import { adminPage, PageHeader, Section } from '../_components/page/staff-page';
import { demand } from './actions';
import { ROLE_LABELS, STAFF_OUTCOMES } from './staff-texts';

export const metadata = { title: 'Staff' };

export default adminPage(async ({ staff, db, timeZone, runtime: { now }, search, notice }) => {
  const page = await listStaffUsers(db, toPageRequest(search), now());
  return (
    <>
      <PageHeader
        title="Staff"
        description="Everyone who can sign in here."
        actions={<NewLink href="/admin/staff/new">Add person</NewLink>}
      />
      <OutcomeNotice notice={notice} {...STAFF_OUTCOMES} />
      <PagedList
        page={page}
        noun="person"
        nouns="people"
        yet="Add the first one."
        path="/admin/staff"
        params={search}
      >
        {(people) => <StaffList staff={people} self={staff.id} timeZone={timeZone} />}
      </PagedList>
      <Box mt="xl">
        <TwoFactorRule key={notice} isRequired={await isTwoFactorRequired(db)} />
      </Box>
    </>
  );
});

interface Props {
  staff: StaffListRow[];
  /** Id of the signed-in person. */
  self: string;
  timeZone: string;
}

function StaffList({ staff, self, timeZone }: Props) {
  return (
    <RecordList
      label="Staff"
      rows={staff}
      hrefOf={({ id }) => `/admin/staff/${id}`}
      columns={[
        { label: 'Name', cell: (user) => <Name user={user} self={self} />, title: ({ name }) => name },
        { label: 'E-mail', width: '32%', cell: ({ email }) => email, title: true },
        { label: 'Role', width: '10%', cell: ({ role }) => ROLE_LABELS[role] },
        { label: 'Signed in', width: '14%', cell: sessionsText },
        {
          label: 'Added',
          width: '18%',
          cell: (user) => <Instant at={user.created_at} timeZone={timeZone} />,
        },
      ]}
      entryOf={(user) => ({
        title: <Name user={user} self={self} />,
        detail: user.email,
        figure: ROLE_LABELS[user.role],
        state: user.sessions > 0 && (
          <Text span size="xs" c="dimmed">
            {sessionsText(user)}
          </Text>
        ),
      })}
    />
  );
}

function Name({ user, self }: { user: StaffListRow; self: string }) {
  return (
    <>
      {user.name}
      {user.id === self && (
        <Text span c="dimmed" inherit fw={400}>
          {' '}
          (you)
        </Text>
      )}
    </>
  );
}

function sessionsText({ sessions }: StaffListRow): string {
  return sessions > 0 ? formatCount(sessions, 'session') : '–';
}

/** Shows whether all staff must use an authenticator app, with the button that changes the rule. */
function TwoFactorRule({ isRequired }: { isRequired: boolean }) {
  return (
    <Section title="Two-factor authentication">
      <Box p="md">
        <Group justify="space-between" gap="md">
          <Text size="sm">
            {isRequired
              ? 'Everyone must use an authenticator app.'
              : 'Each person chooses whether to use an authenticator app.'}
          </Text>
          <ConfirmButton action={demand.bind(null, !isRequired)} {...(isRequired ? STOP : REQUIRE)} />
        </Group>
      </Box>
    </Section>
  );
}

const STOP = {
  question: 'Stop requiring two-factor authentication?',
  children: 'Stop requiring it',
  consequences: ['Anyone who has set it up keeps it, and can turn it off.'],
};
const REQUIRE = {
  question: 'Require two-factor authentication for everyone?',
  confirm: 'Require it',
  children: 'Require it for everyone',
  consequences: [
    'Anyone without an authenticator app, including you, must set one up before they can continue.',
    'A passkey alone is not enough: the password would still work without a code.',
  ],
};
