import { DOCUMENT_PATH } from './document-path';

const PATIENCE_MS = 20_000;

/**
 * The API's document, with this origin as its server: the page's policy lets it call no other.
 *
 * @throws where there is no document, or none in time
 */
export async function fetchDocument(leaving: AbortSignal): Promise<object> {
  const signal = AbortSignal.any([leaving, AbortSignal.timeout(PATIENCE_MS)]);
  const answer = await fetch(DOCUMENT_PATH, { signal });
  if (!answer.ok) throw new Error(`${DOCUMENT_PATH} answered ${answer.status}`);
  return { ...(await answer.json()), servers: [{ url: window.location.origin }] };
}
