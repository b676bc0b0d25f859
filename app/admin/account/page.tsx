import { Box, Stack } from '@mantine/core';
import type { Metadata } from 'next';
import { isTwoFactorRequired } from '@/lib/auth/second-factor/demand';
import { listPasskeys } from '@/lib/auth/second-factor/passkeys';
import { requireSession } from '@/lib/auth/session/staff-session';
import { getRuntime } from '@/lib/runtime';
import { formatDay } from '../../_components/format';
import { type SearchParams, toParams } from '../../_components/search-params';
import { PageHeader } from '../_components/page/page-header';
import { Section } from '../_components/page/section';
import { ROLE_LABELS } from '../staff/role-text';
import { AccountNotice } from './account-notice';
import {
  beginApp,
  changePassword,
  confirmApp,
  removePasskey,
  renewCodes,
  startPasskey,
  storePasskey,
  turnOffApp,
} from './actions';
import { AppSetUp } from './app-set-up';
import { Passkeys } from './passkeys';
import { PasswordForm } from './password-form';
import { TwoFactor } from './two-factor';

export const metadata: Metadata = { title: 'Your account' };

export default async function AccountPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  const { staff, hasTwoFactor } = await requireSession();
  const { db, env } = await getRuntime();
  const notice = toParams(await searchParams).get('notice');
  const passkeys = await listPasskeys(db, staff.id);
  return (
    <Box maw={700}>
      <PageHeader
        title="Your account"
        description={`${staff.name} · ${staff.email} · ${ROLE_LABELS[staff.role]}`}
      />
      <AccountNotice key={notice} notice={notice} />
      <Stack gap="xl">
        <Section title="Two-factor authentication">
          <Box p="md">
            {hasTwoFactor ? (
              <TwoFactor isRequired={await isTwoFactorRequired(db)} renew={renewCodes} turnOff={turnOffApp} />
            ) : (
              <AppSetUp begin={beginApp} confirm={confirmApp} then="/admin/account" />
            )}
          </Box>
        </Section>
        <Section title="Passkeys">
          <Passkeys
            passkeys={passkeys.map(({ id, name, created_at }) => ({
              id,
              name: name ?? 'Passkey',
              added: formatDay(created_at, env.timeZone),
              remove: removePasskey.bind(null, id),
            }))}
            start={startPasskey}
            store={storePasskey}
          />
        </Section>
        <Section title="Password">
          <Box p="md">
            <PasswordForm action={changePassword.bind(null, '/admin/account?notice=password')} />
          </Box>
        </Section>
      </Stack>
    </Box>
  );
}
