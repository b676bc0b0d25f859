'use client';

import { Alert, Button, Group, Loader, Text, useComputedColorScheme } from '@mantine/core';
import './reference.css';
import { useEffect, useRef, useState } from 'react';
import classes from './page.module.css';

/** Shows Swagger UI with this server's OpenAPI document. Loads Swagger UI after the page has rendered. */
export function ApiReference({ documentPath }: { documentPath: string }) {
  const container = useRef<HTMLDivElement>(null);
  const [state, setState] = useState<'loading' | 'failed' | 'shown'>('loading');
  const [attempt, setAttempt] = useState(1);
  useDarkModeClass();

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new attempt must load the document again
  useEffect(() => {
    const leaving = new AbortController();
    const root = document.createElement('div');
    container.current?.append(root);
    setState('loading');
    Promise.all([import('./show-swagger-ui'), fetchDocument(documentPath, leaving.signal)])
      .then(([{ showSwaggerUi }, document]) => showSwaggerUi(root, document, leaving.signal))
      .then(() => setState('shown'))
      .catch((error) => {
        if (leaving.signal.aborted) return;
        reportError(error);
        setState('failed');
      });
    return () => {
      leaving.abort();
      root.remove();
    };
  }, [attempt, documentPath]);

  return (
    <>
      {state === 'loading' && (
        <Group role="status" className={classes.loading ?? ''} justify="center" py={96}>
          <Loader size="sm" />
          <Text c="dimmed">Loading the reference…</Text>
        </Group>
      )}
      {state === 'failed' && (
        <Alert color="red" variant="light" role="alert" mt="xl" title="The reference could not be loaded">
          <Text size="sm" mb="md">
            The server did not send it. Check the connection, or try again in a minute.
          </Text>
          <Button onClick={() => setAttempt(attempt + 1)}>Try again</Button>
        </Alert>
      )}
      <div ref={container} id="reference" />
    </>
  );
}

/** In dark mode, gives the root element the class that Swagger UI's dark colours require. */
function useDarkModeClass(): void {
  const scheme = useComputedColorScheme();
  useEffect(() => {
    const { classList } = document.documentElement;
    classList.toggle('dark-mode', scheme === 'dark');
    return () => classList.remove('dark-mode');
  }, [scheme]);
}

const PATIENCE_MS = 20_000;

/**
 * Fetches the OpenAPI document and sets this origin as its server, because the page's Content-Security-Policy forbids
 * requests to other origins.
 *
 * @throws Error if the request fails, or takes longer than 20 seconds
 */
async function fetchDocument(path: string, leaving: AbortSignal): Promise<object> {
  const signal = AbortSignal.any([leaving, AbortSignal.timeout(PATIENCE_MS)]);
  const answer = await fetch(path, { signal });
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}`);
  return withoutInternal({ ...(await answer.json()), servers: [{ url: window.location.origin }] });
}

interface ApiDocument {
  components: { securitySchemes: Record<string, { 'x-internal'?: boolean }> };
  paths: Record<string, Record<string, { security?: Record<string, unknown>[] }>>;
}

/** Removes the security schemes of internal callers, because readers of the page do not have the secrets. */
function withoutInternal(document: ApiDocument): object {
  const { securitySchemes } = document.components;
  const isPublic = (name: string) => !securitySchemes[name]?.['x-internal'];
  for (const operation of Object.values(document.paths).flatMap((item) => Object.values(item))) {
    operation.security = operation.security?.filter((need) => Object.keys(need).every(isPublic)) ?? [];
  }
  const shown = Object.entries(securitySchemes).filter(([name]) => isPublic(name));
  document.components.securitySchemes = Object.fromEntries(shown);
  return document;
}
