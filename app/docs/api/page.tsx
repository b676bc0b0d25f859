import { Anchor, Text, Title } from '@mantine/core';
import type { Metadata } from 'next';
import Link from 'next/link';
import { Brand } from '../../_components/brand';
import { TextLink } from '../../_components/links';
import { ApiReference } from './api-reference';
import { DOCUMENT_PATH } from './document-path';
import classes from './page.module.css';

export const metadata: Metadata = {
  title: 'API reference',
  description: 'The HTTP API of W5T: every operation, its fields and its errors, to try out.',
};

export default function ApiReferencePage() {
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
        <ApiReference />
      </main>
    </>
  );
}
