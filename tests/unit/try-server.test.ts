import { expect, test } from 'vitest';
import type { DatabaseHandle } from '@/db/client';
import { tryServer } from '@/lib/try-server';

function failing(code: string): DatabaseHandle {
  const execute = () => Promise.reject(Object.assign(new Error('refused'), { code }));
  return { db: { execute }, kind: 'postgres', close: async () => {} } as unknown as DatabaseHandle;
}

test.each([
  ['28P01', 'The server of DATABASE_URL refused its user or password: check both.'],
  [
    '28000',
    'The server of DATABASE_URL does not let its user in: check the user, and what pg_hba.conf allows from here.',
  ],
  ['3D000', 'The server of DATABASE_URL has no database of that name: create it, or correct the name.'],
  ['57P03', 'The database of DATABASE_URL does not answer: start it, or correct its address.'],
])('a server that answers %s is one sentence', async (code, sentence) => {
  await expect(tryServer(failing(code), 'postgres://h/d', async () => {})).rejects.toThrow(sentence);
});
