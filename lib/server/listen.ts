import { once } from 'node:events';
import { createServer, isIPv6, type Server } from 'node:net';
import type { Env } from '../env';
import { StartError } from '../errors';

/** Returns the addresses to listen on: HOST, or both loopback addresses if HOST is not set or `localhost`. */
export function listenAddresses({ host }: Pick<Env, 'host'>): string[] {
  return host === null || host === 'localhost' ? ['127.0.0.1', '::1'] : [host];
}

/** Returns the server's URL for programs on the same machine. */
export function localUrl({ host, port }: Pick<Env, 'host' | 'port'>): string {
  const [address = ''] = listenAddresses({ host });
  const reachable = address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address;
  return `http://${isIPv6(reachable) ? `[${reachable}]` : reachable}:${port}`;
}

type Place = Pick<Env, 'host' | 'port'>;

/**
 * Starts a server on each of the `listenAddresses`. Skips the IPv6 loopback on a machine without IPv6.
 *
 * @returns the listening servers
 * @throws StartError if the port or an IP address is not available; in this case no server listens
 */
export async function listen<S extends Server>(create: () => S, place: Place): Promise<S[]> {
  const servers: S[] = [];
  try {
    for (const address of listenAddresses(place)) {
      const server = create();
      if (await tryListen(server, address, place.port)) servers.push(server);
    }
    return servers;
  } catch (error) {
    for (const server of servers) server.close();
    throw error;
  }
}

/** Checks that the port is available. @throws StartError if a server could not listen */
export async function requirePort(place: Place): Promise<void> {
  const servers = await listen(() => createServer(), place);
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
}

async function tryListen(server: Server, address: string, port: number): Promise<boolean> {
  try {
    await once(server.listen({ host: address, port }), 'listening');
    return true;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (address === '::1' && /^(EADDRNOTAVAIL|EAFNOSUPPORT)$/.test(code)) return false;
    throw new StartError([sentenceOf(code, address, port)]);
  }
}

function sentenceOf(code: string, address: string, port: number): string {
  if (code === 'EADDRINUSE') return `Port ${port} is in use: stop the program that uses it or set PORT.`;
  if (code === 'EACCES') return `This user cannot listen on port ${port}: set PORT to 1024 or above.`;
  return `HOST ${address} is not an address of this machine (${code}): set HOST to one of its addresses, or to 0.0.0.0 for all.`;
}
