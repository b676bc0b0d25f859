import { describe, expect, test } from 'vitest';
import { auditLog } from '@/db/schema';
import { listAudit } from '@/lib/audit/list-audit';
import { commandActor } from '@/lib/audit/record-audit';
import { hashToken, touchAccessToken, verifyAccessToken } from '@/lib/auth/tokens/access-token';
import { issueAccessToken, type TypedToken } from '@/lib/auth/tokens/issue-access-token';
import {
  createAccessToken,
  getAccessToken,
  listAccessTokens,
  revokeAccessToken,
  tokenState,
} from '@/lib/auth/tokens/manage-access-tokens';
import { useDatabase } from '../support/database';
import { type TestRuntime, testRuntime } from '../support/runtime';

const ACTOR = commandActor('test');

describe('access tokens', () => {
  const base = useDatabase();
  let runtime: TestRuntime | undefined;
  const create = async (expires_at: Date | null) => {
    runtime ??= testRuntime(base.db);
    const token = { name: 'ERP', scopes: ['mcp:read' as const], expires_at, created_by: ACTOR };
    return { ...(await createAccessToken(base.db, token, runtime.randomBytes)), now: runtime.now() };
  };

  test('a token is valid until it is revoked', async () => {
    const { id, token, now } = await create(null);
    expect(token).toMatch(/^w5t_[\w-]{43}$/);
    expect(await verifyAccessToken(base.db, token, now)).toEqual({
      id,
      name: 'ERP',
      scopes: ['mcp:read'],
      staff_email: null,
      last_used_at: null,
    });
    await revokeAccessToken(base.db, id, { actor: ACTOR, now });
    expect(await verifyAccessToken(base.db, token, now)).toBeNull();
    await expect(revokeAccessToken(base.db, id, { actor: ACTOR, now })).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  test('a token ends at its expiry', async () => {
    const { token, now } = await create(new Date('2026-03-16T00:00:00Z'));
    expect(await verifyAccessToken(base.db, token, now)).not.toBeNull();
    expect(await verifyAccessToken(base.db, token, new Date('2026-03-16T00:00:00Z'))).toBeNull();
  });

  test.each(['', 'w5t_short', 'Bearer w5t_x', `w5t_${'A'.repeat(43)}`])('%j is no token', async (token) => {
    expect(await verifyAccessToken(base.db, token, new Date())).toBeNull();
  });

  test('its use is noted at most once a minute', async () => {
    const { token } = await create(new Date('2027-01-01T00:00:00Z'));
    const at = (seconds: number) => new Date(Date.parse('2026-06-01T00:00:00Z') + seconds * 1000);
    const use = async (seconds: number) => {
      const known = await verifyAccessToken(base.db, token, at(seconds));
      if (known) await touchAccessToken(base.db, known, at(seconds));
      return (await verifyAccessToken(base.db, token, at(seconds)))?.last_used_at;
    };
    expect(await use(0)).toEqual(at(0));
    expect(await use(59)).toEqual(at(0));
    expect(await use(61)).toEqual(at(61));
  });
});

describe('staff issue tokens', () => {
  const base = useDatabase();
  const STAFF = { type: 'staff' as const, id: 'grace', name: 'grace@example.com' };
  const TYPED: TypedToken = {
    name: ' Website ',
    scopes: ['payments:write', 'mcp:read'],
    expires: '90',
    last_day: '',
    staff_email: '',
  };
  let runtime: TestRuntime | undefined; // of one runtime, whose chance does not repeat itself
  const issue = (typed: Partial<TypedToken> = {}, timeZone = 'UTC') => {
    runtime ??= testRuntime(base.db);
    const world = { ...runtime, env: { ...runtime.env, timeZone } };
    return issueAccessToken(world, STAFF, { ...TYPED, ...typed });
  };

  test('who issued and who revoked one is noted, never the token nor its hash', async () => {
    const { id, name, token } = await issue();
    expect([name, token]).toEqual(['Website', expect.stringMatching(/^w5t_[\w-]{43}$/)]);
    const { now } = testRuntime(base.db);
    expect(await verifyAccessToken(base.db, token, now())).toMatchObject({ id });
    const row = await getAccessToken(base.db, id);
    expect(row).toMatchObject({ created_by: STAFF.name, scopes: ['mcp:read', 'payments:write'] });
    expect(row.expires_at?.toISOString()).toBe('2026-06-13T12:00:00.000Z');
    expect(tokenState(row, now())).toBe('valid');
    await revokeAccessToken(base.db, id, { actor: STAFF, now: now() });
    expect(tokenState(await getAccessToken(base.db, id), now())).toBe('revoked');
    expect(await listAudit(base.db, 'access_token', id)).toMatchObject([
      { action: 'access_token.revoke', actor_name: STAFF.name, before: { revoked_at: null }, after: { id } },
      { action: 'access_token.create', actor_type: 'staff', before: null, after: { name: 'Website' } },
    ]);
    const log = JSON.stringify(await base.db.select().from(auditLog));
    expect(log).not.toContain(token);
    expect(log).not.toContain(hashToken(token));
    expect(log).not.toContain('token_hash');
  });

  test.each([
    ['30', '', '2026-04-14T12:00:00.000Z'],
    ['365', '', '2027-03-15T12:00:00.000Z'],
    ['never', '', undefined],
    ['date', '2026-03-15', '2026-03-15T23:00:00.000Z'],
    ['date', '2026-03-29', '2026-03-29T22:00:00.000Z'],
  ])('until %s %s', async (expires, last_day, expected) => {
    const { id } = await issue({ expires, last_day }, 'Europe/Berlin');
    expect((await getAccessToken(base.db, id)).expires_at?.toISOString()).toBe(expected);
  });

  test.each([
    [{ name: ' ' }, ['name']],
    [{ name: 'x'.repeat(101) }, ['name']],
    [{ scopes: [] }, ['scopes']],
    [{ scopes: ['admin'] }, ['scopes']],
    [{ expires: '31' }, ['expires']],
    [{ expires: 'date', last_day: '2026-03-14' }, ['last_day']],
    [{ expires: 'date', last_day: '2036-03-30' }, ['last_day']],
    [{ expires: 'date', last_day: '', name: '' }, ['name', 'last_day']],
    [{ staff_email: 'ada' }, ['staff_email']],
    [{ staff_email: 'nobody@example.com' }, ['staff_email']],
  ])('%j is refused and writes nothing', async (typed, fields) => {
    const before = await base.db.$count(auditLog);
    await expect(issue(typed)).rejects.toMatchObject({
      code: 'validation_failed',
      fields: fields.map((field) => ({ field })),
    });
    expect(await base.db.$count(auditLog)).toBe(before);
  });

  test('are listed newest first, a page at a time, without their hashes', async () => {
    await issue({ name: 'Last' });
    const page = await listAccessTokens(base.db, { page: 1, per_page: 2 });
    expect(page).toMatchObject({ per_page: 2, data: [{ name: 'Last' }, {}] });
    expect(page.total).toBeGreaterThan(2);
    const next = await listAccessTokens(base.db, { page: 2, per_page: 2 });
    expect(next.data[0]?.id).toBeLessThan(page.data[1]?.id ?? 0);
    expect(Object.keys(page.data[0] ?? {})).not.toContain('token_hash');
  });
});
