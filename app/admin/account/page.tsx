import { Box, Stack } from '@mantine/core';
import type { Metadata } from 'next';
import { formatDay } from '@/app/_components/format';
import { type SearchParams, toParams } from '@/app/_components/search-params';
import { isTwoFactorRequired } from '@/lib/auth/find-staff';
import { requireSession } from '@/lib/auth/staff-session';
import { getRuntime } from '@/lib/runtime';
import { listPasskeys } from '@/lib/staff/second-factor';
import { Notice } from '../_components/page/notice';
import { PageHeader } from '../_components/page/page-header';
import { Section } from '../_components/page/section';
import { ROLE_LABELS } from '../staff/role-text';
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
import { PasswordForm } from './password-form';
import { AppSetUp, Passkeys, TwoFactor } from './second-factor';

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

const DONE = new Map([
  ['password', 'Your password is changed, and your other sessions have ended.'],
  ['app-off', 'Two-factor authentication is off.'],
  ['passkey', 'The passkey is added. You can now sign in with it.'],
  ['passkey-removed', 'The passkey is removed.'],
]);
const REFUSED = new Map([['not_found', 'The passkey has already been removed.']]);

/** Shows the outcome of the action that led here. */
function AccountNotice({ notice }: { notice: string | null }) {
  const done = DONE.get(notice ?? '');
  const text = done ?? REFUSED.get(notice ?? '');
  return text ? <Notice tone={done ? 'done' : 'refused'}>{text}</Notice> : null;
}
