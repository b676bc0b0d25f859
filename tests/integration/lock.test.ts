import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DataDirBusyError, lockDataDir } from '@/db/lock';
import { parseEnv } from '@/lib/env';
import { openDatabase } from '@/lib/open-database';

describe('the embedded database has one owner', () => {
  let folder: string;
  let children: ChildProcess[];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'w5t-lock-'));
    children = [];
  });

  afterEach(() => {
    for (const child of children) child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });

  /** A process that takes the lock, says so, and stays. */
  async function startOwner(): Promise<ChildProcess> {
    const script = `
      import('./db/lock.ts').then(({ lockDataDir }) => {
        try { lockDataDir(${JSON.stringify(folder)}); console.log('owner'); setInterval(() => {}, 1000); }
        catch (error) { console.log(error.constructor.name); }
      });`;
    const child = spawn(process.execPath, ['--import', 'tsx', '-e', script], {
      cwd: join(import.meta.dirname, '../..'),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(child);
    return child;
  }

  const firstWord = async (child: ChildProcess) => {
    if (!child.stdout) throw new Error('the child has no stdout');
    const [data] = await once(child.stdout, 'data');
    return String(data).trim();
  };

  const lockedBy = () => {
    try {
      lockDataDir(folder)();
    } catch (error) {
      if (error instanceof DataDirBusyError) return error.pid;
      throw error;
    }
    return null;
  };

  test('a second process is refused until the first is gone, even by SIGKILL', async () => {
    const owner = await startOwner();
    expect(await firstWord(owner)).toBe('owner');
    expect(lockedBy()).toBe(owner.pid);
    owner.kill('SIGKILL');
    await once(owner, 'exit');
    expect(existsSync(join(folder, 'lock.json'))).toBe(true);
    expect(lockedBy()).toBeNull();
    expect(readdirSync(folder)).toEqual([]);
  });

  test('of many that find a dead lock, one takes it over', async () => {
    writeFileSync(join(folder, 'lock.json'), JSON.stringify({ pid: 2 ** 22 + 1, started: 'long ago' }));
    const owners = await Promise.all(Array.from({ length: 4 }, startOwner));
    const said = await Promise.all(owners.map(firstWord));
    expect(said.sort()).toEqual(['DataDirBusyError', 'DataDirBusyError', 'DataDirBusyError', 'owner']);
  });

  test('a process with the same number as a dead owner is not mistaken for it', () => {
    writeFileSync(
      join(folder, 'lock.json'),
      JSON.stringify({ pid: process.pid, started: 'before a reboot' }),
    );
    expect(lockedBy()).toBeNull();
  });

  test('a lock torn by a crash is taken over', () => {
    writeFileSync(join(folder, 'lock.json'), '{"pid":');
    expect(lockedBy()).toBeNull();
  });

  test('whoever opens it twice is told the process and what to do; nothing is damaged', async () => {
    const env = parseEnv({ DATA_DIR: folder });
    const first = await openDatabase(env);
    await expect(openDatabase(env)).rejects.toMatchObject({
      name: 'StartError',
      sentences: [
        expect.stringMatching(new RegExp(`in use by process ${process.pid}: stop .*DATA_DIR.*PostgreSQL`)),
      ],
    });
    await first.db.execute('select 1');
    await first.close();
    const second = await openDatabase(env);
    await second.close();
    expect(readdirSync(folder)).toEqual(['pglite']);
  });

  test('a folder that cannot be written is named', async () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    await expect(openDatabase(parseEnv({ DATA_DIR: join(file, 'data') }))).rejects.toMatchObject({
      sentences: [expect.stringMatching(/^DATA_DIR .* cannot be written: give another folder/)],
    });
  });
});
