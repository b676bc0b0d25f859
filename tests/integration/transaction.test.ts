import { eq, sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { pgErrorCode } from '@/db/database';
import { servers } from '@/db/schema';
import { transact } from '@/db/transaction';
import { useDatabase } from '../support/database';
import { createServer } from '../support/factories';

const base = useDatabase();

const nameOf = async (id: number) =>
  (await base.db.select().from(servers).where(eq(servers.id, id)))[0]?.hostname;

test('what is sent is seen by what comes after it, and is there at the end', async () => {
  const { id } = await createServer(base.db);
  const seen = await transact(base.db, async (tx, send) => {
    send(tx.update(servers).set({ hostname: 'sent.example.net' }).where(eq(servers.id, id)));
    return tx.select().from(servers).where(eq(servers.id, id));
  });
  expect(seen[0]?.hostname).toBe('sent.example.net');
  expect(await nameOf(id)).toBe('sent.example.net');
});

test('a write that never reaches the server undoes what was sent before and after it', async () => {
  const { id, hostname } = await createServer(base.db);
  const work = transact(base.db, async (tx, send) => {
    send(tx.update(servers).set({ hostname: 'before.example.net' }).where(eq(servers.id, id)));
    send(Promise.reject(new Error('not sent')));
    send(tx.update(servers).set({ hostname: 'after.example.net' }).where(eq(servers.id, id)));
  });
  await expect(work).rejects.toThrow('not sent');
  expect(await nameOf(id)).toBe(hostname);
});

test('the error is that of the write that failed, not of those that it made fail', async () => {
  const { id } = await createServer(base.db);
  const work = transact(base.db, async (tx, send) => {
    send(tx.execute(sql`select 1 / 0`));
    await tx.select().from(servers).where(eq(servers.id, id));
  });
  await expect(work).rejects.toSatisfy((error) => pgErrorCode(error) === '22012');
});
