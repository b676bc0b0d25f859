'use client';

import { Button } from '@mantine/core';
import { MessagePage } from './_components/message-page';

export interface FailureProps {
  error: Error & { digest?: string };
  reset(): void;
  component?: 'main' | 'div';
}

/** SQLSTATE codes. The error's digest is one of them if the database's disk was full or the database was read-only. */
const DISK_FULL = '53100';
const READ_ONLY = '25006';

/** Shows an error page. The error's message stays on the server. The shown digest helps to find the log entry. */
export default function Failure({ error, reset, component = 'main' }: FailureProps) {
  return (
    <MessagePage component={component} title="Something went wrong" text={textOf(error.digest)}>
      <Button onClick={reset}>Try again</Button>
    </MessagePage>
  );
}

function textOf(digest: string | undefined): string {
  if (digest === DISK_FULL)
    return 'The disk of the database is full, so nothing was saved. Try again once an administrator has freed some space.';
  if (digest === READ_ONLY)
    return 'The database is read-only at the moment, so nothing was saved. Try again later.';
  return `The page could not be shown.${digest ? ` Reference: ${digest}` : ''}`;
}
