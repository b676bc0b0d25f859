import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const SLOWEST_START_MS = 10_000;

export interface Pooler {
  /** The URL of the server through the pooler. */
  url: string;
  stop(): Promise<void>;
}

/** Returns whether PgBouncer is installed. Without it, the tests of pooling cannot run here. */
export const isPoolerInstalled = () => spawnSync('pgbouncer', ['--version']).status === 0;

/**
 * Starts PgBouncer in transaction mode for all databases of a server.
 *
 * @param settings more settings for the section `[pgbouncer]` of the configuration
 */
export async function startPooler(server: string, settings: Record<string, string> = {}): Promise<Pooler> {
  const { hostname, port, username, password } = new URL(server);
  const own = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'w5t-pooler-'));
  const file = join(folder, 'pgbouncer.ini');
  const secret = password && ` password='${decodeURIComponent(password)}'`;
  const all = {
    listen_addr: '127.0.0.1',
    listen_port: String(own),
    unix_socket_dir: '',
    auth_type: 'any',
    pool_mode: 'transaction',
    max_client_conn: '1000',
    // There is a pool per test database, and idle connections must not use up the server's limit.
    server_idle_timeout: '5',
    log_connections: '0',
    log_disconnections: '0',
    log_stats: '0',
    ...settings,
  };
  writeFileSync(
    file,
    [
      '[databases]',
      `* = host=${hostname} port=${port || 5432} user=${decodeURIComponent(username)}${secret}`,
      '[pgbouncer]',
      ...Object.entries(all).map(([name, value]) => `${name} = ${value}`),
    ].join('\n'),
  );
  // PgBouncer refuses to run as root. If the tests run as root, the machine also has the user `postgres`.
  const user = process.getuid?.() === 0 ? ['-u', 'postgres'] : [];
  const child = spawn('pgbouncer', ['-q', ...user, file], { stdio: ['ignore', 'ignore', 'inherit'] });
  const stop = async () => {
    if (child.exitCode === null && child.kill('SIGKILL')) await once(child, 'exit');
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await untilItListens(own, child);
  } catch (error) {
    await stop();
    throw error;
  }
  const address = new URL(server);
  address.host = `127.0.0.1:${own}`;
  return { url: address.toString(), stop };
}

async function untilItListens(port: number, child: ChildProcess): Promise<void> {
  for (let waited = 0; waited < SLOWEST_START_MS; waited += 50) {
    if (child.exitCode !== null) throw new Error(`pgbouncer ended with ${child.exitCode}`);
    const socket = connect(port, '127.0.0.1');
    const isThere = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isThere) return;
    await sleep(50);
  }
  throw new Error('pgbouncer does not listen');
}

/** Finds a port that is free at the moment. */
export async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((done) => probe.listen(0, () => done()));
  const { port } = probe.address() as AddressInfo;
  await new Promise((done) => probe.close(done));
  return port;
}
