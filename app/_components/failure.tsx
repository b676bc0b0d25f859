'use client';

import { Button } from '@mantine/core';
import { MessagePage } from './message-page';

export interface FailureProps {
  error: Error & { digest?: string };
  reset(): void;
  component?: 'main' | 'div';
}

/** What error.tsx shows. The message stays on the server; its digest finds it in the log. */
export function Failure({ error, reset, component = 'main' }: FailureProps) {
  return (
    <MessagePage
      component={component}
      title="Something went wrong"
      text={`The page could not be shown.${error.digest ? ` Reference: ${error.digest}` : ''}`}
    >
      <Button onClick={reset}>Try again</Button>
    </MessagePage>
  );
}
