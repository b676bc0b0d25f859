import { methodNotAllowed } from '../method-not-allowed';
import { openJson, openPreflight } from './answers';
import { answerAuthorize } from './authorize';
import { answerRegister } from './register-route';
import { answerRevoke, answerToken } from './token-route';

const preflight = async () => openPreflight('POST');

/** What a client may also do from a page of another site. */
const openDoor = (answer: (request: Request) => Promise<Response>) => ({
  ...methodNotAllowed('POST, OPTIONS'),
  POST: answer,
  OPTIONS: preflight,
});

/** `/api/auth/oauth2/…` */
export const tokenRoute = openDoor(answerToken);
export const revokeRoute = openDoor(answerRevoke);
export const registerRoute = openDoor(answerRegister);
export const authorizeRoute = { ...methodNotAllowed('GET'), GET: answerAuthorize };
/** OpenID's discovery wants an address of keys; nothing is signed with any. */
export const keysRoute = { ...methodNotAllowed('GET'), GET: () => openJson({ keys: [] }) };
