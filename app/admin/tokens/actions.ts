'use server';

import { z } from 'zod';
import { staffSecret } from '@/lib/auth/staff-auth';
import { rowId } from '@/lib/fields';
import { addOwnClient, removeOwnClient, type TypedClient } from '@/lib/oauth/own-clients';
import { issueAccessToken, revokeAccessToken, type TypedToken } from '@/lib/tokens/manage-access-tokens';
import { refreshPages, staffAction, staffFormAction } from '../_components/page/staff-action';

export interface IssueState {
  /** The fields as they were typed. */
  typed: TypedToken;
  /** The sentence for each wrong field. */
  problems: Record<string, string>;
  /** The token's text, for this one answer. */
  issued: { name: string; token: string } | null;
}

/** Issues a token and shows it, once. */
export const issue = staffFormAction({
  role: 'admin',
  input: [],
  form: {
    name: 'text',
    scopes: 'texts',
    hides_personal_data: 'flag',
    expires: 'text',
    last_day: 'text',
    staff_email: 'text',
  },
  run: ({ runtime, actor }, typed) => issueAccessToken(runtime, actor, typed),
  done: ({ name, token }, typed): IssueState => {
    refreshPages();
    return { typed, problems: {}, issued: { name, token } };
  },
  refused: ({ problems }, typed): IssueState => ({ typed, problems, issued: null }),
});

/** Ends a token at once. A token that was revoked meanwhile stays as it is. */
export const revoke = staffAction({
  role: 'admin',
  input: [rowId],
  run: ({ runtime: { db, now }, actor }, id) => revokeAccessToken(db, id, { actor, now: now() }),
  done: (_revoked, id) => `/admin/tokens/${id}?notice=revoked`,
  refused: (_refusal, id) => `/admin/tokens/${id}?notice=revoked`,
});

export interface ClientState {
  typed: TypedClient;
  problems: Record<string, string>;
  /** What the client signs in with, for this one answer. */
  made: { name: string; clientId: string; clientSecret: string | null } | null;
}

/** Registers a client, and shows its secret once. */
export const addClient = staffFormAction({
  role: 'admin',
  input: [],
  form: { name: 'text', redirects: 'text', hasSecret: 'flag' },
  run: ({ runtime, actor }, typed) =>
    addOwnClient(runtime, typed, { actor, secret: staffSecret(runtime.env, runtime.randomBytes) }),
  done: (made, typed): ClientState => {
    refreshPages();
    return { typed, problems: {}, made: { name: typed.name, ...made } };
  },
  refused: ({ problems }, typed): ClientState => ({ typed, problems, made: null }),
});

/** Removes a client and what it was allowed. A client that is gone stays gone. */
export const removeClient = staffAction({
  role: 'admin',
  input: [z.string()],
  run: ({ runtime: { db }, actor }, id) => removeOwnClient(db, id, actor),
  done: () => '/admin/tokens/clients?notice=removed',
  refused: () => '/admin/tokens/clients?notice=removed',
});
