import { Alert, List, ListItem, Text } from '@mantine/core';
import { THIN_WARNING } from '@/lib/sync/event-types';
import type { StoredEvent } from '@/lib/sync/inbox/events';
import { failureText } from '../../_components/display/failure-text';
import { Notice } from '../../_components/page/notice';

const REPLAYED = new Map([
  ['processed', 'Replayed: the event was applied.'],
  ['stale', 'Replayed: a newer state was already known, so nothing changed.'],
  ['unmatched', 'Replayed: no customer matches yet.'],
  ['ignored', 'Replayed: events of this type change nothing here.'],
  ['dropped', 'Not replayed: its body was removed because of its age.'],
  ['failed', 'Replayed, but it failed again. Nothing was saved.'],
]);

interface Props {
  event: Pick<StoredEvent, 'outcome' | 'error_code' | 'failure_reason' | 'warnings'>;
  replayed: string | null;
}

/** What came of a replay, and what is to know of an event beyond its outcome. */
export function EventNotices({ event, replayed }: Props) {
  const { outcome, error_code, failure_reason, warnings } = event;
  const text = REPLAYED.get(replayed ?? '');
  return (
    <>
      {text && (
        <Notice tone={replayed === 'failed' || replayed === 'dropped' ? 'refused' : 'done'}>{text}</Notice>
      )}
      {outcome === 'failed' && (
        <Alert color="red" variant="light" title="The event failed">
          {failure_reason ? (
            `${failure_reason} It is kept as Stripe sent it and is retried only when somebody replays it.`
          ) : (
            <>
              {failureText(error_code)} {error_code && `Code ${error_code}.`} The next reconciliation tries it
              again; you can do so now.
            </>
          )}
        </Alert>
      )}
      {outcome === 'unmatched' && (
        <Alert color="orange" variant="light" title="No matching customer">
          It is kept and retried when Stripe delivers it again or somebody replays it.
        </Alert>
      )}
      {warnings.length > 0 && (
        <Alert color="orange" variant="light" title={warnings.length === 1 ? 'A warning' : 'Warnings'}>
          <Warnings warnings={warnings} />
          {outcome === 'ignored' && !warnings.includes(THIN_WARNING) && (
            <Text size="sm">A replay applies it anyway.</Text>
          )}
        </Alert>
      )}
    </>
  );
}

function Warnings({ warnings }: { warnings: string[] }) {
  const sentences = warnings.map((text) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`);
  if (sentences.length === 1) return <Text size="sm">{sentences[0]}</Text>;
  return (
    <List size="sm">
      {sentences.map((sentence) => (
        <ListItem key={sentence}>{sentence}</ListItem>
      ))}
    </List>
  );
}
