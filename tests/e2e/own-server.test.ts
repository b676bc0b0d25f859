import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { ensureBuild, START } from '../support/next-build';
import { head, openRaw } from '../support/raw-connection';
import { type Command, freePort, startCommand } from './support/commands';

const MIB = 1_048_576;

// Linux tells what a process has open and how large it is.
describe.runIf(existsSync('/proc/self/fd'))('npm start, with 256 open files at most', () => {
  let folder: string;
  let start: Command | undefined;
  let port: number;
  /** The server's process number. */
  let pid: number;

  beforeAll(async () => {
    await ensureBuild();
    folder = mkdtempSync(join(tmpdir(), 'w5t-own-server-'));
    port = await freePort();
    const env = { DATA_DIR: join(folder, 'data'), PORT: String(port), LOG_LEVEL: 'error' };
    start = startCommand(['bash', '-c', `ulimit -n 256; exec ${process.execPath} ${START}`], env);
    const { output, child } = start;
    await vi.waitFor(() => expect(output()).toContain('Listening'), { timeout: 60_000 });
    const parent = child.pid;
    pid = Number(readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8').trim());
    for (const path of ['/', '/nowhere', '/api/health']) await get(path);
  }, 400_000);

  afterAll(async () => {
    start?.child.kill('SIGKILL'); // not there where the build failed
    await vi.waitFor(() => expect(existsSync(`/proc/${pid}`)).toBe(false), { timeout: 20_000 });
    rmSync(folder, { recursive: true, force: true });
  }, 30_000);

  const get = (path: string) =>
    fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(20_000) });
  const openFiles = () => readdirSync(`/proc/${pid}/fd`).length;
  const memory = () =>
    Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;

  test('1,500 upgrade requests leave nothing open', async () => {
    const before = openFiles();
    const upgrade = { Connection: 'Upgrade', Upgrade: 'websocket' };
    const held = [];
    for (let sent = 0; sent < 1500; sent += 25) {
      const path = ['/nowhere', '/', '/api/health'][(sent / 25) % 3];
      const wave = Array.from({ length: 25 }, () => openRaw(port, head(`GET ${path}`, upgrade)));
      held.push(...wave);
      await Promise.race([Promise.all(wave.map(({ closed }) => closed)), sleep(1000)]);
    }
    expect((await get('/api/health')).status).toBe(200);
    await vi.waitFor(() => expect(openFiles()).toBeLessThan(before + 10), { timeout: 8000 });
    for (const { socket } of held) socket.destroy();
  }, 120_000);

  test('120 unfinished bodies of 9 MiB cost little memory', async () => {
    const before = memory();
    let largest = 0;
    const piece = Buffer.alloc(MIB);
    const held = [];
    for (let i = 0; i < 120; i += 1) {
      const connection = openRaw(port, head('POST /', { 'Content-Length': 9 * MIB + 1 }));
      for (let sent = 0; sent < 9; sent += 1) connection.socket.write(piece);
      held.push(connection);
      if (i % 20 === 19) await sleep(300);
      largest = Math.max(largest, memory());
    }
    await sleep(2000);
    largest = Math.max(largest, memory());
    expect((await get('/api/health')).status).toBe(200);
    for (const { socket } of held) socket.destroy();
    expect((largest - before) / MIB).toBeLessThan(120);
  }, 60_000);

  test('headers that stall end after 15 s, bodies after 30 s', async () => {
    const body = (path: string) => openRaw(port, `${head(`POST ${path}`, { 'Content-Length': 90 })}abc`);
    const headers = openRaw(port, 'GET / HTTP/1.1\r\nHost: x\r\n');
    const bodies = ['/', '/sign-in', '/api/stripe/webhook'].map(body);
    const trickling = body('/');
    const drip = setInterval(() => trickling.socket.write('a'), 1000);
    expect(await headers.closed).toBeGreaterThan(14_900);
    expect(await headers.closed).toBeLessThan(20_000);
    for (const { closed } of [...bodies, trickling]) {
      expect(await closed).toBeGreaterThan(29_900);
      expect(await closed).toBeLessThan(35_000);
    }
    clearInterval(drip);
  }, 60_000);

  test('the thread pool has threads beside those that hash passwords', () => {
    expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).toMatch(/(^|\0)UV_THREADPOOL_SIZE=([5-9]|\d\d+)\0/);
  });

  test('a stop is no failure, and gives the database up', async () => {
    const env = { DATA_DIR: join(folder, 'other'), PORT: String(await freePort()), LOG_LEVEL: 'error' };
    const other = startCommand([process.execPath, START], env);
    await vi.waitFor(() => expect(other.output()).toContain('Listening'), { timeout: 60_000 });
    expect(existsSync(join(env.DATA_DIR, 'lock.json'))).toBe(true);
    other.child.kill('SIGTERM');
    expect(await other.exited).toBe(0);
    expect(existsSync(join(env.DATA_DIR, 'lock.json'))).toBe(false);
  }, 90_000);

  test('a parent that is killed leaves no child', async () => {
    const env = { DATA_DIR: join(folder, 'orphan'), PORT: String(await freePort()), LOG_LEVEL: 'error' };
    const parent = startCommand([process.execPath, START], env);
    await vi.waitFor(() => expect(parent.output()).toContain('Listening'), { timeout: 60_000 });
    const { pid: parentPid } = parent.child;
    const child = readFileSync(`/proc/${parentPid}/task/${parentPid}/children`, 'utf8').trim();
    parent.child.kill('SIGKILL');
    await vi.waitFor(() => expect(existsSync(`/proc/${child}`)).toBe(false), { timeout: 20_000 });
    expect(existsSync(join(env.DATA_DIR, 'lock.json'))).toBe(false);
  }, 90_000);
});
