import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { beforeEach, describe, expect, inject, test } from 'vitest';
import { type DatabaseHandle, openPostgres } from '@/db/client';
import { rows } from '@/db/database';
import { migrate } from '@/db/migrate';
import { commandActor } from '@/lib/audit/record-audit';
import { addStaffUser } from '@/lib/auth/staff/add-staff-user';
import { createAccessToken, revokeAccessToken } from '@/lib/auth/tokens/manage-access-tokens';
import { prepareDatabase } from '@/lib/cli/demo/prepare-database';
import { readSettings } from '@/lib/cli/demo/settings';
import { parseEnv } from '@/lib/env';
import { worldOf } from '@/lib/runtime';
import { freePort } from '../e2e/support/commands';
import { runCommandFile } from '../support/command-server';
import { withDatabase } from '../support/database-url';
import { createCustomer } from '../support/factories';

const server = inject('postgres');
const world = worldOf({ logLevel: 'silent' });
const ACTOR = commandActor('staff');
const ERP = { name: 'ERP', scopes: [], expires_at: null, created_by: ACTOR };

describe.runIf(server)('a demo on DATABASE_URL', () => {
  let folder: string;
  let url: string;
  let admin: DatabaseHandle;
  let base: DatabaseHandle;
  const name = `w5t_demo_${process.pid}`;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'w5t-demo-'));
    admin = openPostgres(server?.url ?? '', { max: 1 });
    await admin.db.execute(sql.raw(`create database ${name}`));
    url = withDatabase(server?.url ?? '', name);
    base = openPostgres(url, { max: 2 });
    return async () => {
      await base.close();
      await admin.db.execute(sql.raw(`drop database ${name} with (force)`));
      await admin.close();
      rmSync(folder, { recursive: true, force: true });
    };
  });

  const migrated = () => migrate(base);
  const refusal = async () => {
    const before = await contents();
    const { code, err } = await runCommandFile('demo', [], {
      DATABASE_URL: url,
      DATA_DIR: join(folder, 'data'),
      PORT: String(await freePort()),
    });
    expect(await contents()).toEqual(before);
    return { code, err };
  };
  /** Every table, and how much each statement has written so far. */
  const contents = () =>
    rows(base.db, sql`select relname::text, xmin::text from pg_class where relkind = 'r' order by 1, 2`);
  const prepare = () => {
    const env = parseEnv({ DATABASE_URL: url, DATA_DIR: folder, BETTER_AUTH_SECRET: 'x'.repeat(32) });
    const settings = readSettings(folder, world.randomBytes);
    return prepareDatabase({ env, settings, variables: { NODE_ENV: 'production' }, ownStripe: false });
  };

  test.each([
    [
      'another program’s',
      'create table things (id int); insert into things values (1)',
      /rows .*\(in public\.things\)/,
    ],
    [
      'one in another schema',
      'create schema shop; create table shop."Order" (id int); insert into shop."Order" values (1)',
      /\(in shop\."Order"\)/,
    ],
  ])('refuses %s database without touching it', async (_, statements, sentence) => {
    await base.db.execute(sql.raw(statements));
    expect(await refusal()).toEqual({ code: 1, err: expect.stringMatching(sentence) });
  });

  test('refuses one with a login, a token or customers of somebody else’s', async () => {
    await migrated();
    const others: [string, () => Promise<unknown>][] = [
      ['staff_users', () => addStaffUser({ ...world, db: base.db }, { email: 'a@example.com' }, ACTOR)],
      // The demo's own address, though not by the demo.
      ['staff_users', () => addStaffUser({ ...world, db: base.db }, { email: 'staff@example.com' }, ACTOR)],
      ['access_tokens', () => createAccessToken(base.db, ERP, world.randomBytes)],
      ['customers', () => createCustomer(base.db)],
    ];
    for (const [table, make] of others) {
      await make();
      const before = await contents();
      await expect(prepare()).rejects.toThrow(/holds rows that the demo did not make/);
      expect(await contents()).toEqual(before);
      await base.db.execute(sql.raw(`truncate ${table}, audit_log cascade`));
    }
  });

  test('takes an empty one, and its own again; not once others have a login or a token there', async () => {
    await prepare();
    await prepare();
    const other = await addStaffUser({ ...world, db: base.db }, { email: 'a@example.com' }, ACTOR);
    await expect(prepare()).rejects.toThrow(/holds staff that the demo did not make/);
    await base.db.execute(sql`delete from staff_users where id = ${other.id}`);
    const { id } = await createAccessToken(base.db, ERP, world.randomBytes);
    await expect(prepare()).rejects.toThrow(/holds access tokens that the demo did not make/);
    await revokeAccessToken(base.db, id, { actor: ACTOR, now: world.now() });
    await prepare();
  });
});
