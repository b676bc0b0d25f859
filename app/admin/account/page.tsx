import { Box } from '@mantine/core';
import { isTwoFactorRequired } from '@/lib/auth/find-staff';
import { requireSession } from '@/lib/auth/staff-session';
import { getRuntime } from '@/lib/runtime';
import { listPasskeys } from '@/lib/staff/credentials';
import { formatDay } from '../../_components/format';
import { type SearchParams, toParams } from '../../_components/search-params';
import { OutcomeNotice } from '../_components/forms/record/record-notice';
import { Page, Section } from '../_components/page/staff-page';
import { ROLE_LABELS } from '../staff/staff-texts';
import { PasswordForm } from './password-form';
import { AppSetUp, Passkeys, TwoFactor } from './second-factor';

export const metadata = { title: 'Your account' };

export default async function AccountPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  const { staff, hasTwoFactor } = await requireSession();
  const { db, env } = await getRuntime();
  const notice = toParams(await searchParams).get('notice');
  const passkeys = await listPasskeys(db, staff.id);
  return (
    <Box maw={700}>
      <Page
        title="Your account"
        description={`${staff.name} · ${staff.email} · ${ROLE_LABELS[staff.role]}`}
        notice={<OutcomeNotice notice={notice} done={DONE} refused={REFUSED} />}
      >
        <Section title="Two-factor authentication">
          <Box p="md">
            {hasTwoFactor ? (
              <TwoFactor isRequired={await isTwoFactorRequired(db)} />
            ) : (
              <AppSetUp then="/admin/account" />
            )}
          </Box>
        </Section>
        <Section title="Passkeys">
          <Passkeys
            passkeys={passkeys.map(({ id, name, created_at }) => ({
              id,
              name: name ?? 'Passkey',
              added: formatDay(created_at, env.timeZone),
            }))}
          />
        </Section>
        <Section title="Password">
          <Box p="md">
            <PasswordForm then="/admin/account?notice=password" />
          </Box>
        </Section>
      </Page>
    </Box>
  );
}

const DONE = {
  password: 'Your password is changed, and your other sessions have ended.',
  'app-off': 'Two-factor authentication is off.',
  passkey: 'The passkey is added. You can now sign in with it.',
  'passkey-removed': 'The passkey is removed.',
};
const REFUSED = { not_found: 'The passkey has already been removed.' };
