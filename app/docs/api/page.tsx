import { Anchor, Text, Title } from '@mantine/core';
import type { Metadata } from 'next';
import Link from 'next/link';
import { connection } from 'next/server';
import { readEnv } from '@/lib/env';
import { openApiDocument } from '@/lib/openapi/document';
import { Brand } from '../../_components/brand';
import { TextLink } from '../../_components/links';
import { ApiReference } from './api-reference';
import classes from './page.module.css';
import { ErrorTypes, GettingStarted, listOperations, SideBar, ToolServer } from './sections';

const DOCUMENT_PATH = '/api/openapi.json';

export const metadata: Metadata = {
  title: 'API reference',
  description: 'The HTTP API of W5T: every operation, its fields and its errors, to try out.',
};

export default async function ApiReferencePage() {
  await connection(); // renders on request, because the server's address is not known during the build
  const env = readEnv();
  return (
    <>
      <header className={classes.header}>
        <div className={classes.bar}>
          <Link href="/" className={classes.brand} prefetch={false}>
            <Brand />
          </Link>
          <TextLink href="/sign-in" prefetch={false}>
            Sign in
          </TextLink>
        </div>
      </header>
      <main className={classes.main}>
        <Title order={1}>API reference</Title>
        <Text c="dimmed" mt={4}>
          For programs, as an OpenAPI 3.1 document:{' '}
          <Anchor href={DOCUMENT_PATH} underline="always">
            {DOCUMENT_PATH}
          </Anchor>
        </Text>
        <noscript>
          <Text mt="lg">This page needs JavaScript to show the document; the document itself does not.</Text>
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
      </main>
    </>
  );
}
