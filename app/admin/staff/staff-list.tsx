import { Text } from '@mantine/core';
import type { StaffListRow } from '@/lib/auth/staff/list-staff-users';
import { formatCount } from '../../_components/format';
import { Instant } from '../_components/display/instant';
import { RecordList } from '../_components/lists/record-list';
import { ROLE_LABELS } from './role-text';

interface Props {
  staff: StaffListRow[];
  /** The id of the signed-in person. */
  self: string;
  timeZone: string;
}

export function StaffList({ staff, self, timeZone }: Props) {
  return (
    <RecordList
      label="Staff"
      rows={staff}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => `/admin/staff/${id}`}
      columns={[
        { label: 'Name', cell: (user) => <Name user={user} self={self} />, title: ({ name }) => name },
        { label: 'E-mail', width: '32%', cell: ({ email }) => email, title: ({ email }) => email },
        { label: 'Role', width: '10%', cell: ({ role }) => ROLE_LABELS[role] },
        { label: 'Signed in', width: '14%', cell: sessionsText },
        {
          label: 'Added',
          width: '18%',
          cell: ({ created_at }) => <Instant at={created_at} timeZone={timeZone} />,
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
