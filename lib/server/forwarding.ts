import type { IncomingMessage } from 'node:http';
import type { BlockList } from 'node:net';
import { isWithin, normalAddress } from '../networks';
import { clientAddress } from './client-address';

const FORWARDING = /^(forwarded|x-real-ip|x-forwarded-.+)$/;
/** A secret of this process. Next copies the headers of a request to the requests that it sends to our server. */
const OWN_HEADER = 'x-w5t-own-request';
const AGAIN = ' again';

/** What Next reads: it compares the host with the Origin of a server action. */
const FROM_PROXIES = ['x-forwarded-host', 'x-forwarded-proto', 'x-forwarded-port'];

/**
 * Makes the forwarding headers of a request true: what comes from a stranger is dropped, and
 * X-Forwarded-For holds the client's address alone. Those of a request that Next sends for a client stay as they are.
 *
 * @param secret known to this process only
 * @returns false where the peer is gone already
 */
export function setForwarding(request: IncomingMessage, trusted: BlockList, secret: string): boolean {
  const { headers, socket } = request;
  const own = headers[OWN_HEADER];
  const isOwn = own === secret || own === secret + AGAIN;
  headers[OWN_HEADER] = isOwn ? secret + AGAIN : secret;
  if (isOwn) return true;
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

/**
 * Whether Next sends this request, in the middle of another one that waits for it: to follow the redirect of a server
 * action, or to reach an action of another page.
 */
export function isOwnRequest({ headers }: IncomingMessage): boolean {
  return headers[OWN_HEADER]?.toString().endsWith(AGAIN) ?? false;
}
