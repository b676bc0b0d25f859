import { Box } from '@mantine/core';
import { notFound } from 'next/navigation';
import { requireAdmin } from '@/lib/auth/staff-session';
import { getStaffUser } from '@/lib/auth/staff-user';
import { getRuntime } from '@/lib/runtime';
import { orNotFound } from '../../../../_components/or-not-found';
import { PageHeader } from '../../../_components/page/page-header';
import { titleOf } from '../../../_components/page/title-of';
import { invite } from '../../actions';
import { InviteForm } from '../../staff-forms';

export const generateMetadata = titleOf('New invitation', async (id, { runtime, staff }) =>
  staff.role === 'admin' ? `New invitation for ${(await getStaffUser(runtime.db, { id })).name}` : null,
);

export default async function InvitationPage({ params }: { params: Promise<{ id: string }> }) {
  await requireAdmin();
  const { id } = await params;
  if (!/^[\w-]{1,64}$/.test(id)) notFound();
  const { name, email } = await orNotFound(getStaffUser((await getRuntime()).db, { id }));
  return (
    <Box maw={600}>
      <PageHeader
        back={{ href: `/admin/staff/${id}`, label: name }}
        title="New invitation"
        description={`${email}. The previous link will stop working.`}
      />
      <InviteForm action={invite.bind(null, id)} back={`/admin/staff/${id}`} />
    </Box>
  );
}
