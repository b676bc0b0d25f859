import { Anchor, Box, Code, Group, List, ListItem, Stack, Table, Text, Title } from '@mantine/core';
import type { Metadata } from 'next';
import { connection } from 'next/server';
import type { ReactNode } from 'react';
import { Link } from '@/app/_components/links';
import { readEnv } from '@/lib/env';
import { TOOLS } from '@/lib/mcp/tools';
import { openApiDocument } from '@/lib/openapi/document';
import { listErrorTypes } from '@/lib/openapi/responses';
import { Brand, TextLink } from '../../_components/links';
import { ApiReference } from './api-reference';
import classes from './page.module.css';

const DOCUMENT_PATH = '/api/openapi.json';

export const metadata: Metadata = {
  title: 'API reference',
  description: 'The HTTP API of W5T: every operation, its fields and its errors, to try out.',
};

export default async function ApiReferencePage() {
  await connection(); // Render on request, because the server's URL is not known during the build.
  const env = readEnv();
  return (
    <>
      <header className={classes.header}>
        <Group {...WIDTH} h={56} justify="space-between">
          <Link href="/" className={classes.brand}>
            <Brand />
          </Link>
          <TextLink href="/sign-in">Sign in</TextLink>
        </Group>
      </header>
      <Box component="main" {...WIDTH} pt="xl" pb={64}>
        <Title order={1}>API reference</Title>
        <Text c="dimmed" mt={4}>
          For programs, as an OpenAPI 3.1 document:{' '}
          <Anchor href={DOCUMENT_PATH} underline="always">
            {DOCUMENT_PATH}
          </Anchor>
        </Text>
        <noscript>
          <Text mt="lg">
            This page needs JavaScript to show the reference. The OpenAPI document does not.
          </Text>
        </noscript>
        <div className={classes.columns}>
          <SideBar operations={listOperations(openApiDocument(env.publicUrl))} />
          <div className={classes.content}>
            <GettingStarted url={env.publicUrl} />
            <ErrorTypes />
            <ToolServer url={env.publicUrl} />
            <ApiReference documentPath={DOCUMENT_PATH} />
          </div>
        </div>
      </Box>
    </>
  );
}

const WIDTH = { maw: 1120, mx: 'auto', px: { base: 'md', sm: 'xl' } };

const PARTS = [
  ['getting-started', 'Getting started'],
  ['errors', 'Errors'],
  ['tool-server', 'Tool server'],
] as const;

/** Shows a section of the page, to which the sidebar links. */
function Part({ of: [id, title], children }: { of: (typeof PARTS)[number]; children: ReactNode }) {
  return (
    <Stack component="section" gap="sm" mt="xl" id={id} aria-labelledby={`${id}-title`}>
      <Title order={2} id={`${id}-title`}>
        {title}
      </Title>
      {children}
    </Stack>
  );
}

/** Shows links to the sections of the page and to every operation. */
function SideBar({ operations }: { operations: Operation[] }) {
  const tags = [...new Set(operations.map(({ tag }) => tag))];
  return (
    <nav className={classes.side} aria-label="On this page">
      <ul>
        {PARTS.map(([id, title]) => (
          <li key={id}>
            <a href={`#${id}`}>{title}</a>
          </li>
        ))}
        {tags.map((tag) => (
          <li key={tag}>
            <Text span display="block" px={8} pt={12} pb={4} c="dimmed" fz="xs" fw={600}>
              {tag}
            </Text>
            <ul>
              {operations
                .filter((one) => one.tag === tag)
                .map(({ id, method, summary }) => (
                  <li key={id}>
                    <a href={`#/${tag}/${id}`}>
                      <Text span flex="none" w="4.2em" c="dimmed" ff="monospace" fz={11} lh={1.9}>
                        {method}
                      </Text>
                      {summary}
                    </a>
                  </li>
                ))}
            </ul>
          </li>
        ))}
      </ul>
    </nav>
  );
}

interface Operation {
  id: string;
  tag: string;
  method: string;
  summary: string;
}

/** Lists the operations of the OpenAPI document, in the document's order. */
function listOperations({ paths }: Pick<ReturnType<typeof openApiDocument>, 'paths'>): Operation[] {
  return Object.values(paths).flatMap((item) =>
    Object.entries(item as Record<string, unknown>).flatMap(([method, operation]) => {
      if (!isOperation(operation)) return [];
      const { operationId: id, summary, tags } = operation;
      return [{ id, tag: tags[0] ?? '', method: method.toUpperCase(), summary }];
    }),
  );
}

function isOperation(value: unknown): value is { operationId: string; summary: string; tags: string[] } {
  return typeof value === 'object' && value !== null && 'operationId' in value;
}

/** Explains the steps from getting a token to recording the first payment. */
function GettingStarted({ url }: { url: string }) {
  return (
    <Part of={PARTS[0]}>
      <List type="ordered" spacing="md" styles={{ itemWrapper: { display: 'block' } }}>
        <ListItem>
          An admin <TextLink href="/admin/tokens/new">issues an access token</TextLink> with the scopes{' '}
          <Code>payments:read</Code> and <Code>payments:write</Code>. Keep it in an environment variable.
        </ListItem>
        <ListItem>
          Ask for the latest payments:
          <Code block tabIndex={0} mt="xs">{`export ACCESS_TOKEN=w5t_…
curl '${url}/api/w5t/payments?per_page=5' -H "Authorization: Bearer $ACCESS_TOKEN"`}</Code>
        </ListItem>
        <ListItem>
          Record a payment. The response is 201. Sending the same request again changes nothing and returns
          200.
          <Code block tabIndex={0} mt="xs">{`curl -X POST '${url}/api/w5t/payments' \\
  -H "Authorization: Bearer $ACCESS_TOKEN" \\
  -H 'Content-Type: application/json' \\
  -d '{"invoice_id": 1, "customer_id": 1, "amount": 119,
       "payment_date": "2026-03-10", "payment_reference": "BANK-2026-0310"}'`}</Code>
        </ListItem>
      </List>
      <Text size="sm" c="dimmed">
        “Try it out” below sends real requests: a payment that you record there is saved.
      </Text>
    </Part>
  );
}

/** Lists every type of error response. */
function ErrorTypes() {
  return (
    <Part of={PARTS[1]}>
      <Text size="sm">
        Errors are <Code>application/problem+json</Code>. Check <Code>type</Code> in your program.{' '}
        <Code>detail</Code> is a sentence for people, and <Code>errors</Code> names the invalid fields.
      </Text>
      <Box role="region" tabIndex={0} aria-label="Error types" style={{ overflowX: 'auto' }}>
        <Table
          miw={560}
          data={{
            head: ['Status', 'type', 'For example'],
            body: listErrorTypes().map(({ type, status, detail }) => [
              status,
              <Code key={type}>{type}</Code>,
              detail,
            ]),
          }}
        />
      </Box>
    </Part>
  );
}

/** Explains what the MCP server offers, lists its tools, and links to the page about connecting a client. */
function ToolServer({ url }: { url: string }) {
  return (
    <Part of={PARTS[2]}>
      <Text size="sm">
        AI assistants read customers, services, invoices, sales documents and servers over the Model Context
        Protocol, at <Code>{url}/mcp</Code> (Streamable HTTP). They need an access token with the scope{' '}
        <Code>mcp:read</Code> and cannot change anything.{' '}
        <TextLink href="/admin/connect">Connect a client</TextLink>
      </Text>
      <List spacing="xs">
        {TOOLS.map(({ name, wire }) => (
          <ListItem key={name}>
            <Code>{name}</Code>: {wire.title}
          </ListItem>
        ))}
      </List>
    </Part>
  );
}
