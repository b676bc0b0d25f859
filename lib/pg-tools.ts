import { spawn } from 'node:child_process';
import { serverUrl } from '@/db/server-url';
import { StartError } from './errors';
import { inheritedEnv } from './inherited-env';

/** Parameters of an address that PostgreSQL's own programs know, too. The driver hands all others to the server. */
const KNOWN =
  /^(ssl\w*|host|port|dbname|user|options|connect_timeout|target_session_attrs|application_name)=/;

/**
 * Runs pg_dump or pg_restore on the database of an address. The password is passed in the environment, since other
 * users of the machine see the arguments.
 *
 * @throws StartError with what the program said
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
  let said = '';
  child.stderr.on('data', (data) => {
    said = `${said}${data}`.slice(-2000);
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    throw new StartError([`${program} was not found: install PostgreSQL's client programs.`]);
  });
  if (code !== 0) throw new StartError([`${program} failed:`, ...said.trim().split('\n')]);
}

function withoutPassword(url: string): { address: string; password: string | undefined } {
  const [, scheme = '', user = '', password, rest = ''] =
    /^(\w+:\/\/)(?:([^:@/?#]*)(?::([^@/?#]*))?@)?(.*)$/s.exec(serverUrl(url)) ?? [];
  const [place = '', query = ''] = rest.split(/\?(.*)/s);
  const parameters = query.split('&').filter((parameter) => KNOWN.test(parameter));
  const address = `${scheme}${user && `${user}@`}${place}${parameters.length > 0 ? `?${parameters.join('&')}` : ''}`;
  return { address, password: password === undefined ? undefined : decodeURIComponent(password) };
}
