import { Code, List, ListItem, Stack, Text, Title } from '@mantine/core';
import { TOOLS } from '@/lib/mcp/tools';
import { TextLink } from '../../_components/links';

/** The server for MCP clients: what it offers, and how they reach it. */
export function ToolServer({ url }: { url: string }) {
  return (
    <Stack component="section" gap="sm" mt="xl" id="tool-server" aria-labelledby="tool-server-title">
      <Title order={2} id="tool-server-title">
        Tool server
      </Title>
      <Text size="sm">
        AI assistants read customers, services, invoices, sales documents and servers over the Model Context
        Protocol, at <Code>{url}/mcp</Code> (Streamable HTTP). They need an access token with the scope{' '}
        <Code>mcp:read</Code>, and change nothing.{' '}
        <TextLink href="/admin/connect" prefetch={false}>
          Connect a client
        </TextLink>
      </Text>
      <List spacing="xs">
        {TOOLS.map(({ name, wire }) => (
          <ListItem key={name}>
            <Code>{name}</Code>: {wire.title}
          </ListItem>
        ))}
      </List>
    </Stack>
  );
}
