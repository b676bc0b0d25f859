import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import * as all from '@/app/api/w5t/payments/route';
import { seedDatabase } from '@/db/seed';
import { useApi } from '../support/api';

const README = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8');
const server = useApi({ '/api/w5t/payments': all });

test('the examples of the payments API work on sample data as they are pasted', async () => {
  const { db } = server.runtime;
  await seedDatabase(db, { today: '2026-11-22', timeZone: 'UTC' });
  const ACCESS_TOKEN = await server.token('payments:read', 'payments:write');
  const examples = [...README.matchAll(/^curl [^`]*?\/api\/w5t\/payments[^`]*?$/gm)].map(([one]) => one);
  expect(examples).toHaveLength(2);
  const answers = [];
  for (const example of examples) {
    const command = example.replace('http://localhost:3000', server.url);
    const { stdout } = await promisify(execFile)('bash', ['-c', command], {
      env: { ...process.env, ACCESS_TOKEN },
    });
    answers.push(JSON.parse(stdout));
  }
  expect(answers).toMatchObject([
    { per_page: 2, data: [{}, {}] },
    { invoice_id: 1, amount: 10, payment_reference: 'BANK-1', status: 'completed' },
  ]);
});
