import { count, eq, max, sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { rows } from '@/db/database';
import { auditLog, servers } from '@/db/schema';
import { statement } from '@/db/statement';
import { recordAudit } from '@/lib/audit/record-audit';
import { isPooled, onPostgres, useDatabase } from '../support/database';
import { createServer } from '../support/factories';

const base = useDatabase();

const findServer = statement(['hostname'], (db, { hostname }) =>
  db.select().from(servers).where(eq(servers.hostname, hostname)),
);

test('a statement answers as the builder does, in and out of transactions', async () => {
  const made = await createServer(base.db, { ipv4: ['192.0.2.1'] });
  expect(await findServer(base.db, { hostname: made.hostname })).toEqual([made]);
  const rolledBack = base.db.transaction(async (tx) => {
    await tx.update(servers).set({ hostname: 'renamed.example.net' }).where(eq(servers.id, made.id));
    expect(await findServer(tx, { hostname: made.hostname })).toEqual([]);
    expect(await findServer(tx, { hostname: 'renamed.example.net' })).toHaveLength(1);
    throw new Error('enough');
  });
  await expect(rolledBack).rejects.toThrow('enough');
  expect(await findServer(base.db, { hostname: made.hostname })).toEqual([made]);
});

test('what it computes is read as what it says that it is', async () => {
  const made = await createServer(base.db);
  const lastOf = statement(['hostname'], (db, { hostname }) =>
    db
      .select({ at: max(servers.created_at), count: count() })
      .from(servers)
      .where(eq(servers.hostname, hostname)),
  );
  expect(await lastOf(base.db, { hostname: made.hostname })).toEqual([{ at: made.created_at, count: 1 }]);
  expect(await lastOf(base.db, { hostname: 'nobody' })).toEqual([{ at: null, count: 0 }]);
});

test('a server prepares it once on a connection', async () => {
  const prepared = await base.db.transaction(async (tx) => {
    for (const hostname of ['a', 'b']) await findServer(tx, { hostname });
    return rows(
      tx,
      sql`select 1 as one from pg_prepared_statements where statement like 'select "id"%from "servers"%'`,
    );
  });
  expect(prepared).toHaveLength(onPostgres() && !isPooled() ? 1 : 0);
});

test('nothing before a creation is no JSON at all', async () => {
  await recordAudit(base.db, {
    actor: { type: 'cli', id: 'test', name: 'Test' },
    action: 'payment.create',
    entity: 'payment',
    entity_id: 1,
    before: null,
    after: { id: 1, amount: '1.000' },
  });
  const [entry] = await base.db.select({ absent: sql`before is null`, after: auditLog.after }).from(auditLog);
  expect(entry).toEqual({ absent: true, after: { id: 1, amount: '1.000' } });
});
