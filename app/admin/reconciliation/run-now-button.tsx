import { IconPlayerPlay } from '@tabler/icons-react';
import { SubmitButton } from '../_components/forms/submit-button';
import { runNow } from './actions';

export function RunNowButton({ running }: { running: boolean }) {
  return (
    <form action={runNow}>
      <SubmitButton disabled={running} leftSection={<IconPlayerPlay size={16} stroke={1.8} aria-hidden />}>
        {running ? 'Running' : 'Run now'}
      </SubmitButton>
    </form>
  );
}
