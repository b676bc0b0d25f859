import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { makeDataDir, runCommandFile } from '../support/command-server';
import { ensureBuild } from '../support/next-build';
import { temporaryFolder } from '../support/run-command';
import { DEMO_READY, freePort, pressCtrlC, startUntil } from './support/commands';

const DEMO = ['npm', 'run', 'demo'];
const folder = temporaryFolder();
beforeAll(() => ensureBuild(), 400_000);

const newEnv = async (name: string) => ({
  DATA_DIR: await makeDataDir(join(folder, name)),
  PORT: String(await freePort()),
  LOG_LEVEL: 'error',
});

test('restarting the demo keeps its data and password but replaces the access token', async () => {
  const env = await newEnv('data');
  const start = async () => {
    const demo = await startUntil(DEMO_READY, DEMO, env);
    const one = (pattern: RegExp) => pattern.exec(demo.output())?.[1] ?? '';
    const token = one(/^ACCESS_TOKEN=(w5t_\S+)$/m);
    const stop = () => {
      pressCtrlC(demo);
      return demo.exited;
    };
    return { token, password: one(/Password: (\S+)/), output: demo.output(), stop };
  };
  const get = (path: string, token: string) =>
    fetch(`http://localhost:${env.PORT}/api/${path}`, { headers: { authorization: `Bearer ${token}` } });
  const payments = (token: string) => get('w5t/payments?per_page=1', token);

  const first = await start();
  const { cronSecret } = JSON.parse(readFileSync(join(env.DATA_DIR, 'demo.json'), 'utf8'));
  // Reconciliation records the payment that the demo missed, and skips the event that can never be applied.
  const reconcile = async () => (await get('cron/reconcile', cronSecret)).json();
  await expect
    .poll(reconcile, { timeout: 30_000, interval: 500 })
    .toMatchObject({ status: 'completed', failures: 0 });
  const before = await (await payments(first.token)).json();
  await first.stop();

  const again = await start();
  expect(again.output).not.toMatch(/Filling|Building/);
  expect(again.password).toBe(first.password);
  expect((await payments(first.token)).status).toBe(401);
  expect(await (await payments(again.token)).json()).toEqual(before);
  const paid = await runCommandFile('stripe-event', ['invoice.paid'], env);
  expect(paid).toMatchObject({ code: 0, out: expect.stringMatching(/invoice\.paid .*200 processed/) });
  await again.stop();
}, 120_000);

test('the demo exits without printing a login if another program takes its port during the start', async () => {
  const env = await newEnv('other');
  const { output, exited } = await startUntil(/Filling the empty database/, DEMO, env);
  const program = createServer((_, response) => response.end('{"status":"ok"}'));
  program.listen(Number(env.PORT), '127.0.0.1');
  expect(await exited).toBe(1);
  program.close();
  expect(output()).toContain(`Port ${env.PORT} is in use`);
  expect(output()).not.toMatch(/Password|ACCESS_TOKEN|w5t_/);
}, 120_000);
