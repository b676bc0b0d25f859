import { Box, Text } from '@mantine/core';
import { notFound } from 'next/navigation';
import { requireAdmin } from '@/lib/auth/staff-session';
import { getStaffUser } from '@/lib/auth/staff-user';
import { getRuntime } from '@/lib/runtime';
import { orNotFound } from '../../../../_components/or-not-found';
import { PageHeader } from '../../../_components/page/page-header';
import { titleOf } from '../../../_components/page/title-of';
import { resetPassword } from '../../actions';
import { PasswordForm } from '../../staff-forms';

export const generateMetadata = titleOf('Reset a password', async (id, { runtime, staff }) =>
  staff.role === 'admin' ? `Reset the password of ${(await getStaffUser(runtime.db, { id })).name}` : null,
);

export default async function PasswordPage({ params }: { params: Promise<{ id: string }> }) {
  const self = await requireAdmin();
  const { id } = await params;
  if (!/^[\w-]{1,64}$/.test(id)) notFound();
  const { name, email } = await orNotFound(getStaffUser((await getRuntime()).db, { id }));
  const isSelf = id === self.id;
  return (
    <Box maw={600}>
      <PageHeader
        back={{ href: `/admin/staff/${id}`, label: name }}
        title="Reset the password"
        description={`${email}${isSelf ? ' (you)' : ''}. The old password stops working, all sessions end${isSelf ? ', including this one' : ''}, and connected apps are disconnected.`}
      />
      <Text size="sm" c="dimmed" mb="lg">
        The authenticator app and passkeys stay. If somebody else may know the password, reset two-factor
        authentication too: they could have added a passkey.
      </Text>
      <PasswordForm action={resetPassword.bind(null, id)} back={`/admin/staff/${id}`} />
    </Box>
  );
}
