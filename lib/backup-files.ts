import { spawn } from 'node:child_process';
import { sql } from 'drizzle-orm';
import { serverUrl } from '@/db/client';
import { type Database, rows } from '@/db/database';
import { StartError } from './errors';
import { inheritedEnv } from './inherited-env';

/** URL parameters to pass on. pg_dump and pg_restore refuse unknown ones, such as our driver's server settings. */
const KNOWN_PARAMETERS =
  /^(ssl\w*|host|port|dbname|user|options|connect_timeout|target_session_attrs|application_name)=/;

/**
 * Runs pg_dump or pg_restore on the database of a URL. The password is passed in the environment, because other users
 * of the machine can see the arguments.
 *
 * @throws StartError with the program's error message, or if the program is not installed
 */
export async function runPgTool(
  program: 'pg_dump' | 'pg_restore',
  url: string,
  args: string[],
): Promise<void> {
  const { address, password } = withoutPassword(url);
  const env = { ...inheritedEnv(), ...(password !== undefined && { PGPASSWORD: password }) };
  const child = spawn(program, ['--no-password', `--dbname=${address}`, ...args], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errorOutput = '';
  child.stderr.on('data', (data) => {
    errorOutput = `${errorOutput}${data}`.slice(-2000);
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    throw new StartError([`${program} was not found: install PostgreSQL's client programs.`]);
  });
  if (code !== 0) throw new StartError([`${program} failed:`, ...errorOutput.trim().split('\n')]);
}

function withoutPassword(url: string): { address: string; password: string | undefined } {
  const [, scheme = '', user = '', password, rest = ''] =
    /^(\w+:\/\/)(?:([^:@/?#]*)(?::([^@/?#]*))?@)?(.*)$/s.exec(serverUrl(url)) ?? [];
  const [place = '', query = ''] = rest.split(/\?(.*)/s);
  const parameters = query.split('&').filter((parameter) => KNOWN_PARAMETERS.test(parameter));
  const address = `${scheme}${user && `${user}@`}${place}${parameters.length > 0 ? `?${parameters.join('&')}` : ''}`;
  return { address, password: password === undefined ? undefined : decodeURIComponent(password) };
}

/**
 * Returns the counts of customers, invoices and payments as text. Returns null if the database lacks one of these
 * tables.
 */
export async function describeContents(db: Database): Promise<string | null> {
  const [found] = await rows<{ is_ours: boolean }>(
    db,
    sql`select to_regclass('customers') is not null and to_regclass('invoices') is not null
      and to_regclass('payments') is not null as is_ours`,
  );
  if (!found?.is_ours) return null;
  const [held] = await rows<{ customers: number; invoices: number; payments: number }>(
    db,
    sql`select (select count(*) from customers)::int as customers, (select count(*) from invoices)::int as invoices,
      (select count(*) from payments)::int as payments`,
  );
  const { customers = 0, invoices = 0, payments = 0 } = held ?? {};
  return `${countText(customers, 'customer')}, ${countText(invoices, 'invoice')} and ${countText(payments, 'payment')}`;
}

const countText = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** Returns the name and the host of a server's database, without the user and password of the URL. */
export function databaseName(url: string): string {
  const [, hosts = '', name = ''] = /^\w+:\/\/(?:[^@/?#]*@)?([^/?#]*)\/?([^?#]*)/.exec(url) ?? [];
  return `the ${name === '' ? 'default database' : `database ${decodeURIComponent(name)}`} on ${hosts || 'this machine'}`;
}
