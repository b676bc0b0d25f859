'use client';

import { Button, Tabs, Text } from '@mantine/core';
import { useState, useTransition } from 'react';
import type { Connection } from '@/lib/mcp/connections';
import { InlineCode } from './inline-code';
import { Snippet } from './snippet';

interface Props {
  connections: Connection[];
  /** Issues a token for a client. Absent if the person cannot issue tokens. */
  issue?: ((client: string) => Promise<string>) | undefined;
}

/** Each client's way, one at a time. */
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

/** The ids of tab and panel are made of it, and an id with a space is two. */
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
      <Snippet client={client} text={text} />
      {canFill && token === null && (
        <Button
          size="xs"
          variant="light"
          ml="md"
          mb="md"
          loading={pending}
          onClick={() => start(async () => setToken(await issue(client)))}
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
