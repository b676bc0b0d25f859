import { Box } from '@mantine/core';
import type { Metadata } from 'next';
import { requireAdmin } from '@/lib/auth/staff-session';
import { PageHeader } from '../../_components/page/page-header';
import { add } from '../actions';
import { AddForm } from '../staff-forms';

export const metadata: Metadata = { title: 'Add a person' };

export default async function NewStaffPage() {
  await requireAdmin();
  return (
    <Box maw={600}>
      <PageHeader back={{ href: '/admin/staff', label: 'Staff' }} title="Add a person" />
      <AddForm action={add} />
    </Box>
  );
}
