import { parseArgs } from 'node:util';
import { commandActor } from '../audit/record-audit';
import { SCOPES, type Scope } from '../auth/access-token';
import {
  type AccessTokenRow,
  createAccessToken,
  listAccessTokens,
  revokeAccessToken,
  tokenState,
} from '../auth/manage-access-tokens';
import { StartError } from '../errors';
import { MAX_PER_PAGE } from '../page';
import { worldOf } from '../runtime';
import { runCommand } from './run-command';
import { withDatabase } from './with-database';

const DAY_MS = 86_400_000;
const MAX_DAYS = 3650;
const USAGE = [
  'Usage: npm run -s token -- create --name NAME --scopes a,b [--expires 90d]',
  '       npm run -s token -- list',
  '       npm run -s token -- revoke ID',
  `Scopes: ${SCOPES.join(', ')}.`,
];

const ACTOR = commandActor('cli');

runCommand(async () => {
  const command = readArguments();
  await withDatabase(async ({ db }, env) => {
    const { now, randomBytes } = worldOf(env);
    if (command.verb === 'create') {
      const { name, scopes, days } = command;
      const expires_at = days === null ? null : later(now(), days);
      const made = await createAccessToken(db, { name, scopes, expires_at, created_by: ACTOR }, randomBytes);
      console.log(made.token);
    } else if (command.verb === 'revoke') {
      await revokeAccessToken(db, command.id, { actor: ACTOR, now: now() });
      console.log(`Access token ${command.id} is no longer valid.`);
    } else {
      const { data: tokens, total } = await listAccessTokens(db, { page: 1, per_page: MAX_PER_PAGE });
      if (total === 0) console.log('There are no access tokens yet.');
      for (const token of tokens) console.log(toLine(token, now()));
      if (total > tokens.length) console.log(`${total - tokens.length} older: ${env.publicUrl}/admin/tokens`);
    }
  });
});

type Command =
  | { verb: 'create'; name: string; scopes: Scope[]; days: number | null }
  | { verb: 'revoke'; id: number }
  | { verb: 'list' };

function readArguments(): Command {
  const { values, positionals } = parse();
  const [verb, id = '', ...rest] = positionals;
  if (rest.length > 0) throw new StartError(USAGE);
  if (verb === 'list' && id === '') return { verb };
  if (verb === 'revoke' && /^\d{1,9}$/.test(id)) return { verb, id: Number(id) };
  if (verb !== 'create' || id !== '' || !values.scopes) throw new StartError(USAGE);
  const name = values.name?.trim() ?? '';
  if (name === '' || name.length > 100) throw new StartError(['--name must have 1 to 100 characters.']);
  return { verb, name, scopes: toScopes(values.scopes), days: toDays(values.expires) };
}

function parse() {
  const text = { type: 'string' } as const;
  try {
    return parseArgs({ allowPositionals: true, options: { name: text, scopes: text, expires: text } });
  } catch (error) {
    if (error instanceof TypeError) throw new StartError(USAGE); // an unknown option
    throw error;
  }
}

function toScopes(list: string): Scope[] {
  const names = new Set(list.split(',').map((name) => name.trim()));
  const scopes = SCOPES.filter((scope) => names.delete(scope));
  const [unknown] = names;
  if (unknown === undefined) return scopes;
  throw new StartError([`--scopes: ${unknown || 'an empty one'} is not one of ${SCOPES.join(', ')}.`]);
}

function toDays(expires: string | undefined): number | null {
  if (expires === undefined) return null;
  const days = Number(/^(\d{1,4})d$/.exec(expires)?.[1] ?? 0);
  if (days >= 1 && days <= MAX_DAYS) return days;
  throw new StartError([`--expires must be a number of days from 1d to ${MAX_DAYS}d.`]);
}

function later(instant: Date, days: number): Date {
  return new Date(instant.getTime() + days * DAY_MS);
}

function toLine(token: AccessTokenRow, now: Date): string {
  const day = (instant: Date | null) => instant?.toISOString().slice(0, 10) ?? 'never';
  return [
    token.id,
    tokenState(token, now),
    token.name,
    token.scopes.join(','),
    `created ${day(token.created_at)}`,
    `expires ${day(token.expires_at)}`,
    `used ${day(token.last_used_at)}`,
  ].join('\t');
}
