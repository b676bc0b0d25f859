import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { describe, expect, inject, test, vi } from 'vitest';
import { openPostgres } from '@/db/client';
import { migrate } from '@/db/migrate';
import { withDatabase } from '../support/database-url';
import { ensureBuild, NEXT, productionEnv } from '../support/next-build';
import { freePort } from './support/commands';

const SENTENCE = 'The database of DATABASE_URL is not migrated: run npm run db:migrate first.';
const BUILD_MS = 300_000;

const server = inject('postgres');
describe.runIf(server)('a function that was deployed before its database was migrated', () => {
  test(
    'says so at every door, and works as soon as that is done',
    async () => {
      if (!server) return;
      await ensureBuild();
      const name = `w5t_behind_${randomUUID().replaceAll('-', '')}`;
      const admin = openPostgres(server.url, { max: 1 });
      await admin.db.execute(sql.raw(`create database ${name}`));
      const databaseUrl = withDatabase(server.url, name);
      const port = await freePort();
      const child = spawn(process.execPath, [NEXT.bin, 'start', '-p', String(port)], {
        cwd: NEXT.cwd,
        env: {
          ...productionEnv(),
          VERCEL: '1',
          DATABASE_URL: databaseUrl,
          BETTER_AUTH_SECRET: randomUUID(),
          PUBLIC_URL: `http://localhost:${port}`,
        },
        stdio: 'ignore',
      });
      const get = (path: string) => fetch(`http://localhost:${port}${path}`);
      try {
        await vi.waitFor(() => get('/api/health'), { timeout: 60_000, interval: 200 });
        const api = await get('/api/w5t/payments');
        expect([api.status, await api.json()]).toEqual([503, expect.objectContaining({ detail: SENTENCE })]);
        for (const path of ['/sign-in', '/admin?after=sign-in']) {
          const page = await get(path);
          expect([page.status, await page.text()]).toEqual([503, expect.stringContaining(SENTENCE)]);
        }
        const health = await get('/api/health');
        expect([health.status, await health.json()]).toEqual([
          503,
          expect.objectContaining({ database: 'not_migrated' }),
        ]);

        const handle = openPostgres(databaseUrl, { max: 1 });
        await migrate(handle);
        await handle.close();
        expect((await get('/api/w5t/payments')).status).toBe(401);
        expect((await get('/sign-in')).status).toBe(200);
        expect((await get('/unavailable')).url).toMatch(/\/sign-in\?next=/);
        expect((await get('/api/health')).status).toBe(200);
      } finally {
        const gone = new Promise((done) => child.once('exit', done));
        child.kill('SIGTERM');
        await gone;
        await admin.db.execute(sql.raw(`drop database ${name} with (force)`));
        await admin.close();
      }
    },
    BUILD_MS,
  );
});
