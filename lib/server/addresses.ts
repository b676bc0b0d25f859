import { isIPv6 } from 'node:net';
import type { Env } from '../env';

type Place = Pick<Env, 'host' | 'port'>;

/** Where the server listens: on the loopback of both kinds unless HOST says otherwise. */
export function listenAddresses({ host }: Pick<Env, 'host'>): string[] {
  return host === null || host === 'localhost' ? ['127.0.0.1', '::1'] : [host];
}

/** The server's address for programs on the same machine. */
export function localUrl({ host, port }: Place): string {
  const [address = ''] = listenAddresses({ host });
  const reachable = address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address;
  return `http://${isIPv6(reachable) ? `[${reachable}]` : reachable}:${port}`;
}
