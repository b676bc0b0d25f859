import { OLD_MASK } from '@/db/schema';
import { commandActor } from '../audit/audit-log';
import { DATABASE_VARIABLES } from '../env';
import { StartError } from '../errors';
import { MAX_PER_PAGE } from '../page';
import type { Runtime } from '../runtime';
import { type GrantedScope, hidesPersonalData, SCOPES } from '../tokens/access-token';
import {
  type AccessTokenRow,
  createAccessToken,
  listAccessTokens,
  revokeAccessToken,
  tokenState,
} from '../tokens/manage-access-tokens';
import { command, FLAG, TEXT, type Terminal } from './command';

const DAY_MS = 86_400_000;
const MAX_DAYS = 3650;
const ACTOR = commandActor('cli');

/** Manages access tokens. */
export const token = command({
  usage: [
    'Usage: npm run -s token -- create --name NAME --scopes a,b [--expires 90d] [--staff EMAIL]',
    '         [--hide-personal-data]',
    '       npm run -s token -- list',
    '       npm run -s token -- revoke ID',
    `Scopes: ${SCOPES.join(', ')}.`,
  ],
  variables: [...DATABASE_VARIABLES, 'PORT', 'PUBLIC_URL'],
  options: { name: TEXT, scopes: TEXT, expires: TEXT, staff: TEXT, 'hide-personal-data': FLAG },
  positionals: 2,
  read(values, [verb, id = '']) {
    if (verb !== 'create' && Object.keys(values).length > 0) return undefined; // Only `create` takes options.
    if (verb === 'list' && id === '') return { verb: 'list' as const };
    if (verb === 'revoke' && /^\d{1,9}$/.test(id)) return { verb: 'revoke' as const, id: Number(id) };
    if (verb !== 'create' || id !== '' || !values.scopes) return undefined;
    const name = values.name?.trim() ?? '';
    if (name === '' || name.length > 100) throw new StartError(['--name must have 1 to 100 characters.']);
    return {
      verb: 'create' as const,
      name,
      scopes: toScopes(values.scopes),
      hides_personal_data: values['hide-personal-data'] ?? false,
      days: toDays(values.expires),
      staff_email: values.staff,
    };
  },
  async run(wanted, { db, env, now, randomBytes }, terminal) {
    if (wanted.verb === 'create') {
      const { verb: _, days, ...input } = wanted;
      const expires_at = days === null ? null : new Date(now().getTime() + days * DAY_MS);
      const made = await createAccessToken(db, { ...input, expires_at, created_by: ACTOR }, randomBytes);
      terminal.print(made.token);
    } else if (wanted.verb === 'revoke') {
      await revokeAccessToken(db, wanted.id, { actor: ACTOR, now: now() });
      terminal.print(`Access token ${wanted.id} is no longer valid.`);
    } else await printTokens({ db, env, now }, terminal);
    return 0;
  },
});

function toScopes(list: string): GrantedScope[] {
  const names = new Set(list.split(',').map((name) => name.trim()));
  if (names.has(OLD_MASK)) {
    throw new StartError([`--scopes: ${OLD_MASK} is no longer a scope. Use --hide-personal-data.`]);
  }
  const scopes = SCOPES.filter((scope) => names.delete(scope));
  const [unknown] = names;
  if (unknown === undefined) return scopes;
  throw new StartError([`--scopes: ${unknown || 'an empty name'} is not one of ${SCOPES.join(', ')}.`]);
}

function toDays(expires: string | undefined): number | null {
  if (expires === undefined) return null;
  const days = Number(/^(\d{1,4})d$/.exec(expires)?.[1] ?? 0);
  if (days >= 1 && days <= MAX_DAYS) return days;
  throw new StartError([`--expires must be a number of days from 1d to ${MAX_DAYS}d.`]);
}

async function printTokens(
  { db, env, now }: Pick<Runtime, 'db' | 'env' | 'now'>,
  { print }: Terminal,
): Promise<void> {
  const { data: tokens, total } = await listAccessTokens(db, { page: 1, per_page: MAX_PER_PAGE });
  if (total === 0) print('There are no access tokens yet.');
  for (const row of tokens) print(toLine(row, now()));
  if (total > tokens.length) print(`${total - tokens.length} older: ${env.publicUrl}/admin/tokens`);
}

function toLine(row: AccessTokenRow, now: Date): string {
  const day = (instant: Date | null) => instant?.toISOString().slice(0, 10) ?? 'never';
  return [
    row.id,
    tokenState(row, now),
    row.name,
    SCOPES.filter((scope) => row.scopes.includes(scope)).join(','),
    ...(hidesPersonalData(row) ? ['hides personal data'] : []),
    ...(row.staff_email === null ? [] : [`of ${row.staff_email}`]),
    `created ${day(row.created_at)}`,
    `expires ${day(row.expires_at)}`,
    `used ${day(row.last_used_at)}`,
  ].join('\t');
}
