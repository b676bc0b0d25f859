import type { IncomingMessage } from 'node:http';
import type { BlockList } from 'node:net';
import { isWithin, normalAddress } from '../networks';
import { clientAddress } from './client-address';

const FORWARDING = /^(forwarded|x-real-ip|x-forwarded-.+)$/;
/** What Next reads: it compares the host with the Origin of a server action. */
const FROM_PROXIES = ['x-forwarded-host', 'x-forwarded-proto', 'x-forwarded-port'];

/**
 * Makes the forwarding headers of a request true: what comes from a stranger is dropped, and
 * X-Forwarded-For holds the client's address alone.
 *
 * @returns false where the peer is gone already
 */
export function setForwarding(request: IncomingMessage, trusted: BlockList): boolean {
  const { headers, socket } = request;
  const peer = normalAddress(socket.remoteAddress ?? '');
  if (peer === null) return false;
  const chain = headers['x-forwarded-for'];
  const forwarding = Object.keys(headers).filter((name) => FORWARDING.test(name));
  if (forwarding.length > 0) {
    const kept = isWithin(trusted, peer) ? FROM_PROXIES : [];
    for (const name of forwarding) if (!kept.includes(name)) delete headers[name];
  }
  headers['x-forwarded-for'] = chain === undefined ? peer : clientAddress(peer, chain.toString(), trusted);
  return true;
}
