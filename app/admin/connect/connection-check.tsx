'use client';

import { Button, List, Stack, Text } from '@mantine/core';
import { useActionState } from 'react';
import type { ConnectionReport } from '@/lib/http/oauth/check-connection';

/** Replays what each client does, and says what fails. */
export function ConnectionCheck({ action }: { action(): Promise<ConnectionReport> }) {
  const [report, run, pending] = useActionState<ConnectionReport | null>(action, null);
  return (
    <Stack gap="md" p="md">
      <Text size="sm" c="dimmed">
        Runs the steps each client takes to connect, against the public address.
      </Text>
      <form action={run}>
        <Button type="submit" size="sm" loading={pending}>
          Check the connection
        </Button>
      </form>
      {report && (
        <div role="status">
          <Text fw={600} mb="xs">
            {report.problem ?? summary(report)}
          </Text>
          <List size="sm" spacing="xs">
            {report.clients.map(({ name, sentence, steps }) => (
              <List.Item key={name} className="break-anywhere">
                <strong>{name}</strong>: {sentence}
                <Text size="xs" c="dimmed">
                  {steps.map((step) => `${step.works ? '✓' : '✗'} ${step.name}`).join(' · ')}
                </Text>
              </List.Item>
            ))}
          </List>
        </div>
      )}
    </Stack>
  );
}

function summary({ clients }: ConnectionReport): string {
  const failed = clients.filter(({ works }) => !works).length;
  if (failed === 0) return 'Everything works: all clients can connect.';
  return `${clients.length - failed} of ${clients.length} clients can connect.`;
}
