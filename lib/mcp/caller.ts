import { type AccessToken, hidesPersonalData } from '../auth/tokens/access-token';
import type { OAuthToken } from '../oauth/oauth-token';
import { READ_SCOPES, type ReadScope, toReadScopes } from '../oauth/scopes';

/** Who calls, and what of it may be answered. */
export interface Caller {
  /** `token` is one that staff issued, `app` a client that a member of staff let in. */
  type: 'token' | 'app';
  /** Of the token, as the log names it. */
  tokenId: string;
  /** What is counted together: a token, or a client and its member of staff. */
  key: string;
  /** The token's name, or the client's. */
  name: string;
  clientId: string | null;
  /** The member of staff whose access it is. */
  email: string | null;
  reads: ReadScope[];
  /** Personal data is masked. */
  masked: boolean;
}

/** What of a caller decides what is answered. */
export type Reader = Pick<Caller, 'reads' | 'masked'>;

/** A reader with every permission. */
export const EVERYTHING: Reader = { reads: [...READ_SCOPES], masked: false };

export function tokenCaller(token: AccessToken): Caller {
  const { id, name, scopes, staff_email } = token;
  return {
    type: 'token',
    tokenId: String(id),
    key: `token:${id}`,
    name,
    clientId: null,
    email: staff_email,
    reads: toReadScopes(scopes),
    masked: hidesPersonalData(token),
  };
}

export function appCaller({ id, clientId, clientName, user, scopes, hidesPersonalData }: OAuthToken): Caller {
  return {
    type: 'app',
    tokenId: id,
    key: `app:${clientId}:${user.id}`,
    name: clientName ?? clientId,
    clientId,
    email: user.email,
    reads: toReadScopes(scopes),
    masked: hidesPersonalData,
  };
}
