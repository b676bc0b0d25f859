import type { BlockList } from 'node:net';
import { isWithin, normalAddress } from '../networks';

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
