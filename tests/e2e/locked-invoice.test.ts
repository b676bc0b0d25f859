import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { type DatabaseHandle, openPostgres } from '@/db/client';
import { rows } from '@/db/database';
import { commandActor } from '@/lib/audit/record-audit';
import type { Scope } from '@/lib/auth/tokens/access-token';
import { createAccessToken } from '@/lib/auth/tokens/manage-access-tokens';
import { createTestDatabase, onPostgres } from '../support/database';
import { withDatabase } from '../support/database-url';
import { createInvoice } from '../support/factories';
import { measureReads, requireQuick } from '../support/measure-reads';
import { ensureBuild } from '../support/next-build';
import { paymentOf } from '../support/two-servers';
import { type Command, freePort, pressCtrlC, startCommand } from './support/commands';

// Of a module's variables each of Next's bundles has its own: only a built server shows what they share.
describe.runIf(onPostgres())('npm start, while somebody holds an invoice', () => {
  let database: DatabaseHandle;
  let other: DatabaseHandle;
  let start: Command;
  let url: string;

  beforeAll(async () => {
    await ensureBuild();
    database = await createTestDatabase();
    const [row] = await rows<{ name: string }>(database.db, sql`select current_database()::text as name`);
    const address = withDatabase(inject('postgres')?.url ?? '', row?.name ?? '');
    other = openPostgres(address, { max: 1 });
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    start = startCommand(['npm', 'start'], {
      DATABASE_URL: address,
      BETTER_AUTH_SECRET: 'x'.repeat(32),
      PORT: String(port),
    });
    await vi.waitFor(() => expect(start.output()).toContain('Listening'), { timeout: 60_000 });
  }, 400_000);

  afterAll(async () => {
    pressCtrlC(start);
    await start.exited;
    await other.close();
    await database.close();
  });

  const tokenFor = async (scope: Scope) => {
    const made = { name: scope, scopes: [scope], expires_at: null, created_by: commandActor('test') };
    return (await createAccessToken(database.db, made, randomBytes)).token;
  };

  test('12 payments of it wait, and nobody else', async () => {
    const invoice = await createInvoice(database.db);
    const [writing, reading] = [await tokenFor('payments:write'), await tokenFor('mcp:read')];
    await measureReads(url, reading); // whatever is done for the first time only
    const quiet = await measureReads(url, reading);
    let posts: Promise<Response>[] = [];
    const seen = await other.db.transaction(async (tx) => {
      await tx.execute(sql`select from invoices where id = ${invoice.id} for update`);
      posts = Array.from({ length: 12 }, (_, i) => paymentOf(invoice, writing, `LOCKED-${i}`)(url));
      await sleep(300);
      return measureReads(url, reading);
    });
    const statuses = (await Promise.all(posts)).map(({ status }) => status);
    expect(statuses).toEqual(Array(12).fill(201));
    requireQuick(seen, quiet);
  }, 60_000);
});
