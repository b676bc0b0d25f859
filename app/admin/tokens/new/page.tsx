import { Box } from '@mantine/core';
import type { Metadata } from 'next';
import { requireAdmin } from '@/lib/auth/staff-session';
import { toCalendarDate } from '@/lib/dates';
import { getRuntime } from '@/lib/runtime';
import { PageHeader } from '../../_components/page/page-header';
import { issue } from '../actions';
import { IssueForm } from './issue-form';

export const metadata: Metadata = { title: 'Issue an access token' };

export default async function NewTokenPage() {
  await requireAdmin();
  const { env, now } = await getRuntime();
  return (
    <Box maw={600}>
      <PageHeader
        back={{ href: '/admin/tokens', label: 'Access tokens' }}
        title="Issue an access token"
        description="Issue one for each program, so that you can revoke each separately."
      />
      <IssueForm action={issue} today={toCalendarDate(now(), env.timeZone)} />
    </Box>
  );
}
