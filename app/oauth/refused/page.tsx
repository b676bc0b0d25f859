import { Button } from '@mantine/core';
import { readWayBack, type WayBack } from '@/lib/oauth/consent-request';
import { getRuntime } from '@/lib/runtime';
import { LinkButton } from '../../_components/links';
import { MessagePage } from '../../_components/message-page';
import type { SearchParams } from '../../_components/search-params';
import { toQuery } from '../../_components/search-params';
import { refusalText } from './refusal-texts';

export const metadata = { title: 'Not connected', referrer: 'no-referrer' };

/** Explains why an authorization ended. It does not redirect to the client, because the client is not verified. */
export default async function RefusedPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  const query = toQuery(await searchParams);
  const back = query.has('client_id') ? await readWayBack(await getRuntime(), query) : null;
  const text = refusalText(query.get('error') ?? '');
  return (
    <MessagePage
      title="The app is not connected"
      text={<span className="break-anywhere">{back ? `${text} ${warning(back)}` : text}</span>}
    >
      {back && (
        <Button
          component="a"
          href={back.href}
          rel="noreferrer"
          variant="default"
          maw="100%"
          h="auto"
          py="xs"
          styles={{ label: { whiteSpace: 'normal', overflowWrap: 'anywhere' } }}
        >
          Back to {back.host}
        </Button>
      )}
      <LinkButton href="/admin">To the overview</LinkButton>
    </MessagePage>
  );
}

function warning({ name, host }: WayBack): string {
  const who = name === null ? 'The app' : `The app calls itself “${name}” and`;
  return `${who} has not been verified. Go back to ${host} only if you started the connection there.`;
}
