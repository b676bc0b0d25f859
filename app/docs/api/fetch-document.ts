import { DOCUMENT_PATH } from './document-path';

const PATIENCE_MS = 20_000;

/**
 * The API's document, with this origin as its server: the page's policy lets it call no other.
 *
 * @throws Error if the document does not arrive in time
 */
export async function fetchDocument(leaving: AbortSignal): Promise<object> {
  const signal = AbortSignal.any([leaving, AbortSignal.timeout(PATIENCE_MS)]);
  const answer = await fetch(DOCUMENT_PATH, { signal });
  if (!answer.ok) throw new Error(`${DOCUMENT_PATH} answered ${answer.status}`);
  return withoutInternal({ ...(await answer.json()), servers: [{ url: window.location.origin }] });
}

interface ApiDocument {
  components: { securitySchemes: Record<string, { 'x-internal'?: boolean }> };
  paths: Record<string, Record<string, { security?: Record<string, unknown>[] }>>;
}

/** Removes the secrets of machines, which readers of the page do not have. */
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
