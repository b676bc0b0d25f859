import type { IncomingMessage } from 'node:http';
import type { BlockList } from 'node:net';
import { isWithin, normalAddress } from '../networks';

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

/**
 * Whose request it is: the peer, or whom trusted proxies say they received it from. Each proxy appends its
 * own peer to X-Forwarded-For, so that only what stands to the right of the first stranger can be believed.
 *
 * @param peer the other end of the connection
 * @param chain X-Forwarded-For as it came
 */
export function clientAddress(peer: string, chain: string | undefined, trusted: BlockList): string {
  let address = normalAddress(peer) ?? peer;
  for (const hop of (chain ?? '').split(',').reverse()) {
    if (!isWithin(trusted, address)) return address;
    const before = normalAddress(withoutPort(hop.trim()));
    if (before === null) return address; // `unknown`, or nothing
    address = before;
  }
  return address;
}

/** Some proxies write `192.0.2.7:5000` and `[2001:db8::7]:5000`. */
function withoutPort(hop: string): string {
  return /^\[(.+)\](?::\d+)?$/.exec(hop)?.[1] ?? /^([\d.]+):\d+$/.exec(hop)?.[1] ?? hop;
}
