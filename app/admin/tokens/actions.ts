'use server';

import { z } from 'zod';
import { staffSecret } from '@/lib/auth/staff-auth';
import { rowId } from '@/lib/fields';
import { addOwnClient, removeOwnClient } from '@/lib/oauth/own-clients';
import { issueAccessToken, revokeAccessToken } from '@/lib/tokens/manage-access-tokens';
import type { FormState } from '../_components/forms/form';
import { showOnce, staffAction, staffFormAction } from '../_components/page/staff-action';

/** Issues an access token, and shows it once. */
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
  done: ({ name, token }) =>
    showOnce({
      title: `The token ${name} is valid now.`,
      name: 'token',
      text: token,
      advice: 'Anyone who has it can do what its scopes allow. Where to enter it:',
      more: { href: '/admin/connect', text: 'Connect a client' },
      done: '/admin/tokens',
    }),
  refused: ({ problems: { scopes, expires, ...problems } }, typed): FormState => ({
    typed,
    problems: {
      ...(expires && { last_day: expires }),
      ...problems,
      ...(scopes && { scopes: 'Choose at least one.' }),
    },
  }),
});

/** Revokes an access token immediately. A token that is already revoked does not change. */
export const revoke = staffAction({
  role: 'admin',
  input: [rowId],
  run: ({ runtime: { db, now }, actor }, id) => revokeAccessToken(db, id, { actor, now: now() }),
  done: (_revoked, id) => `/admin/tokens/${id}?notice=revoked`,
  refused: (_refusal, id) => `/admin/tokens/${id}?notice=revoked`,
});

/** Registers an OAuth client, and shows its id and, if it has one, its secret. The secret is not shown again. */
export const addClient = staffFormAction({
  role: 'admin',
  input: [],
  form: { name: 'text', redirects: 'text', hasSecret: 'flag' },
  run: ({ runtime, actor }, typed) =>
    addOwnClient(runtime, typed, { actor, secret: staffSecret(runtime.env, runtime.randomBytes) }),
  done: ({ clientId, clientSecret }, { name }) =>
    showOnce({
      title: `The client ${name} is registered.`,
      name: 'credentials',
      text: `Client ID: ${clientId}${clientSecret ? `\nClient secret: ${clientSecret}` : ''}`,
      advice: 'Enter it in the client’s settings.',
      done: '/admin/tokens/clients',
    }),
  refused: ({ problems }, typed): FormState => ({ typed, problems }),
});

/** Removes an OAuth client and all its access. The result is the same if the client was already removed. */
export const removeClient = staffAction({
  role: 'admin',
  input: [z.string()],
  run: ({ runtime: { db }, actor }, id) => removeOwnClient(db, id, actor),
  done: () => '/admin/tokens/clients?notice=removed',
  refused: () => '/admin/tokens/clients?notice=removed',
});
