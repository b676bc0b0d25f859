import { Badge, Group, Stack, Text } from '@mantine/core';
import { redirect } from 'next/navigation';
import { requireStaff } from '@/lib/auth/staff-session';
import { type ConsentRequest, readConsentRequest } from '@/lib/oauth/consent-request';
import { REFUSED_PATH } from '@/lib/oauth/metadata';
import { getRuntime } from '@/lib/runtime';
import type { SearchParams } from '../../_components/search-params';
import { toQuery } from '../../_components/search-params';
import { SignInFrame } from '../../sign-in/sign-in-frame';
import { decide } from './actions';
import { ConsentForm } from './consent-form';

export const metadata = { title: 'Connect an app', referrer: 'no-referrer' };

/** Asks a member of staff whether a client may read data on their behalf. No client gets access without a click. */
export default async function ConsentPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  const staff = await requireStaff();
  const query = toQuery(await searchParams);
  const { db, now } = await getRuntime();
  const asked = await readConsentRequest(db, query, now());
  if (!asked) redirect(`${REFUSED_PATH}?error=expired`);
  return (
    <SignInFrame title={`Connect ${titleOf(asked)}?`}>
      <Client {...asked} />
      <Text size="sm">
        You are signed in as <strong>{staff.email}</strong>. It can read on your behalf until you disconnect
        it.
      </Text>
      <ConsentForm action={decide} query={query.toString()} scopes={asked.scopes} />
    </SignInFrame>
  );
}

/** Names the client by its host if its metadata document proves the host. Nothing proves the name in the document. */
const titleOf = ({ name, host, vouched }: ConsentRequest) =>
  vouched === 'site' && host ? `the app of ${host}` : (name ?? 'an app');

function Client({ name, host, vouched, leadsTo, isLocal }: ConsentRequest) {
  return (
    <Stack gap="xs">
      <Group gap="xs">
        <Text fw={600}>{name ?? 'An app without a name'}</Text>
        {host && <Text c="dimmed">{host}</Text>}
        {vouched === 'nobody' && (
          <Badge color="orange" variant="light" radius="sm" tt="none" fw={500}>
            Not verified
          </Badge>
        )}
      </Group>
      {vouched !== 'staff' && (
        <Text size="sm" c="dimmed">
          It chose this name itself{isLocal && ', as any program on this computer could'}. Continue only if
          you have just started this connection yourself.
        </Text>
      )}
      <Text size="sm">
        The answer goes to <strong>{leadsTo}</strong>.
      </Text>
    </Stack>
  );
}
