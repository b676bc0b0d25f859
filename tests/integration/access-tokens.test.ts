import { describe, expect, test } from 'vitest';
import { touchAccessToken, verifyAccessToken } from '@/lib/auth/access-token';
import { createAccessToken, revokeAccessToken } from '@/lib/auth/manage-access-tokens';
import { useDatabase } from '../support/database';
import { type TestRuntime, testRuntime } from '../support/runtime';

describe('access tokens', () => {
  const base = useDatabase();
  let runtime: TestRuntime | undefined;
  const create = async (expires_at: Date | null) => {
    runtime ??= testRuntime(base.db);
    const token = { name: 'ERP', scopes: ['mcp:read' as const], expires_at, created_by: 'test' };
    return { ...(await createAccessToken(base.db, token, runtime.randomBytes)), now: runtime.now() };
  };

  test('a token is valid until it is revoked', async () => {
    const { id, token, now } = await create(null);
    expect(token).toMatch(/^w5t_[\w-]{43}$/);
    expect(await verifyAccessToken(base.db, token, now)).toEqual({
      id,
      name: 'ERP',
      scopes: ['mcp:read'],
      last_used_at: null,
    });
    await revokeAccessToken(base.db, id, now);
    expect(await verifyAccessToken(base.db, token, now)).toBeNull();
    await expect(revokeAccessToken(base.db, id, now)).rejects.toMatchObject({ code: 'not_found' });
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
