import type { ClientDiscovery } from '@better-auth/oauth-provider';
import { eq } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { oauthClients } from '@/db/schema';
import type { Runtime } from '../runtime';
import { isProblem, parseClientMetadata } from './client-metadata';
import { fetchDocument } from './fetch-document';
import { hasRoomForDocument } from './register-client';

/** The mark of clients whose id is the address of their metadata document. */
export const DOCUMENT_CLIENT = 'metadata-document';
/** So long a document is believed without another look: longer than an authorization takes. */
const FRESH_MS = 900_000;
const MAX_ID_LENGTH = 300;

type World = Pick<Runtime, 'db' | 'env' | 'now' | 'newId' | 'log' | 'fetchDocument'>;
type StoredClient = Awaited<ReturnType<ClientDiscovery['resolve']>>;

/** Whether a client id can be the address of a document: https with a path, and no way to write it otherwise. */
function isDocumentId(clientId: string): boolean {
  if (!clientId.startsWith('https://') || clientId.length > MAX_ID_LENGTH) return false;
  if (!URL.canParse(clientId)) return false;
  const url = new URL(clientId);
  const isPlain = url.username === '' && url.password === '' && url.port === '' && !clientId.includes('#');
  return isPlain && url.pathname !== '/' && url.href === clientId;
}

/**
 * Clients that introduce themselves by a document at their id.
 * https://datatracker.ietf.org/doc/draft-ietf-oauth-client-id-metadata-document/
 */
export function clientDiscovery(world: World): ClientDiscovery {
  return {
    id: DOCUMENT_CLIENT,
    matches: isDocumentId,
    resolve: async (ctx, clientId, existing) => {
      // What was consented to goes on with the document of that time; only a new authorization asks again.
      const isNew = ctx.path === '/oauth2/authorize';
      const age = world.now().getTime() - (existing?.updatedAt?.getTime() ?? 0);
      if (existing && (!isNew || age < FRESH_MS)) return existing;
      if (!isNew) return null;
      const read = await readDocument(world, clientId);
      if (typeof read === 'string') {
        world.log.warn(
          { component: 'oauth', client_id: clientId, reason: read },
          'metadata document refused',
        );
        return null;
      }
      if (!existing && !(await hasRoomForDocument(world.db, clientId, world.now()))) {
        world.log.warn({ component: 'oauth', client_id: clientId }, 'too many metadata documents');
        return null;
      }
      return (await storeClient(world.db, clientId, {
        ...read,
        id: world.newId(),
        now: world.now(),
      })) as StoredClient;
    },
  };
}

/** @returns text: why it is not believed */
export async function readDocument(
  { env, fetchDocument: fetch = fetchDocument }: Pick<World, 'env' | 'fetchDocument'>,
  clientId: string,
) {
  let document: unknown;
  try {
    document = await fetch(new URL(clientId));
  } catch (error) {
    return error instanceof Error ? error.message : 'it cannot be read';
  }
  if (typeof document !== 'object' || document === null) return 'it is not an object';
  if (!('client_id' in document) || document.client_id !== clientId) return 'it names another client_id';
  if ('client_secret' in document) return 'it has a secret, which cannot be one';
  const parsed = parseClientMetadata(document, { schemes: env.oauth.redirectSchemes, methods: ['none'] });
  return isProblem(parsed) ? parsed.error_description : parsed;
}

async function storeClient(
  db: Database,
  clientId: string,
  {
    id,
    now,
    redirectUris,
    name,
    uri,
  }: { id: string; now: Date } & {
    redirectUris: string[];
    name: string | null;
    uri: string | null;
  },
) {
  const columns = { redirectUris, name, uri, updatedAt: now };
  const [row] = await db
    .insert(oauthClients)
    .values({
      id,
      clientId,
      clientDiscoveryId: DOCUMENT_CLIENT,
      tokenEndpointAuthMethod: 'none',
      grantTypes: ['authorization_code', 'refresh_token'],
      responseTypes: ['code'],
      createdAt: now,
      ...columns,
    })
    .onConflictDoUpdate({
      target: oauthClients.clientId,
      set: columns,
      setWhere: eq(oauthClients.clientDiscoveryId, DOCUMENT_CLIENT),
    })
    .returning();
  return row ?? null;
}
