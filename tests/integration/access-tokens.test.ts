import { describe, expect, test } from 'vitest';
import { verifyAccessToken } from '@/lib/auth/access-token';
import { createAccessToken, revokeAccessToken } from '@/lib/auth/manage-access-tokens';
import { useDatabase } from '../support/database';
import { testRuntime } from '../support/runtime';

describe('access tokens', () => {
  const base = useDatabase();
  const create = async (expires_at: Date | null) => {
    const { randomBytes, now } = testRuntime(base.db);
    const chance = (size: number) =>
      Buffer.from(Array.from({ length: size }, (_, i) => (i * 7 + (expires_at ? 3 : 9)) % 256));
    return {
      ...(await createAccessToken(
        base.db,
        { name: 'ERP', scopes: ['mcp:read'], expires_at, created_by: 'test' },
        chance ?? randomBytes,
      )),
      now: now(),
    };
  };

  test('a token is valid until it is revoked', async () => {
    const { id, token, now } = await create(null);
    expect(token).toMatch(/^w5t_[\w-]{43}$/);
    expect(await verifyAccessToken(base.db, token, now)).toEqual({ id, name: 'ERP', scopes: ['mcp:read'] });
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
});
