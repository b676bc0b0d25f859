'use client';

import { Button } from '@mantine/core';
import { IconPlayerPlay } from '@tabler/icons-react';
import { useFormStatus } from 'react-dom';
import { runNow } from './actions';

export function RunNowButton({ running }: { running: boolean }) {
  return (
    <form action={runNow}>
      <Submit running={running} />
    </form>
  );
}

function Submit({ running }: { running: boolean }) {
  const { pending } = useFormStatus();
  return (
    <Button
      type="submit"
      size="sm"
      loading={pending}
      disabled={running}
      leftSection={<IconPlayerPlay size={16} stroke={1.8} aria-hidden />}
    >
      {running ? 'Running' : 'Run now'}
    </Button>
  );
}
