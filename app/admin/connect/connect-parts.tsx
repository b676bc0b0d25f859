'use client';

import { Box, Button, Code, List, Stack, Tabs, Text } from '@mantine/core';
import { useActionState, useState, useTransition } from 'react';
import type { ConnectionReport } from '@/lib/http/oauth/check-connection';
import type { Connection } from '@/lib/mcp/connections';
import { CopyTextButton } from '../_components/forms/secret';

interface Props {
  connections: Connection[];
  /** Issues a token for a client. Undefined if the signed-in person is not allowed to issue tokens. */
  issue?: ((client: string) => Promise<{ token: string }>) | undefined;
}

/** Shows a tab for each MCP client, with the instructions for connecting it. */
export function ClientTabs({ connections, issue }: Props) {
  return (
    <Tabs defaultValue={connections[0] ? toValue(connections[0]) : null} keepMounted={false}>
      <Tabs.List aria-label="Clients">
        {connections.map((connection) => (
          <Tabs.Tab key={connection.client} value={toValue(connection)}>
            {connection.client}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {connections.map((connection) => (
        <Tabs.Panel key={connection.client} value={toValue(connection)}>
          <Text size="sm" c="dimmed" p="md" pb={0}>
            <InlineCode text={connection.how} />
          </Text>
          <FilledSnippet connection={connection} issue={issue} />
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}

/** Derives a tab's value from a client's name. Mantine uses the value in element ids, which must not contain spaces. */
function toValue({ client }: Connection): string {
  return client.replaceAll(/\W+/g, '-');
}

function FilledSnippet({
  connection: { client, snippet, placeholder },
  issue,
}: { connection: Connection } & Pick<Props, 'issue'>) {
  const [token, setToken] = useState<string | null>(null);
  const [pending, start] = useTransition();
  const canFill = issue !== undefined && placeholder !== undefined;
  const text = token !== null && placeholder !== undefined ? snippet.replaceAll(placeholder, token) : snippet;
  return (
    <>
      <Box p="md">
        <Code block tabIndex={0}>
          {text}
        </Code>
        <CopyTextButton
          text={text}
          mt="sm"
          size="xs"
          variant="default"
          aria-label={`Copy the snippet for ${client}`}
        >
          Copy
        </CopyTextButton>
      </Box>
      {canFill && token === null && (
        <Button
          size="xs"
          variant="light"
          ml="md"
          mb="md"
          loading={pending}
          onClick={() => start(async () => setToken((await issue(client)).token))}
        >
          Issue a token and fill it in
        </Button>
      )}
      {token !== null && (
        <Text size="sm" px="md" pb="md" role="status">
          The token {client} is valid for 90 days. It is shown only once.
        </Text>
      )}
    </>
  );
}

/** Renders a Markdown sentence whose only markup is inline code in backticks. */
export function InlineCode({ text }: { text: string }) {
  return text.split('`').map((part, i) =>
    i % 2 === 0 ? (
      part
    ) : (
      <Code key={part} className="break-anywhere">
        {part}
      </Code>
    ),
  );
}

/**
 * Shows a button that tests the connection of each known MCP client. Then shows each client's result with its steps, or
 * the problem that affects all clients.
 */
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
