import { isIP } from 'node:net';
import { normalAddress } from '../../networks';

/** Clients without a trusted address share one counter. */
export const UNKNOWN_ADDRESS = 'unknown';

/**
 * The key by which a client is counted: an IPv4 address, or an IPv6 network of 64 bits, since a client that has one
 * address of it has them all.
 *
 * @param forwardedFor `X-Forwarded-For`, which our server and Vercel set to exactly one address. In a
 *   chain it is unknown which part the client wrote.
 */
export function countedAddress(forwardedFor: string | null): string {
  const address = normalAddress(forwardedFor?.trim() ?? '');
  if (address === null) return UNKNOWN_ADDRESS;
  return isIP(address) === 4 ? address : `${networkOf(address)}::`;
}

/** The first four of the eight groups, in the one spelling that the URL standard gives them. */
function networkOf(address: string): string {
  const [left = [], right = []] = new URL(`http://[${address}]`).hostname
    .slice(1, -1)
    .split('::')
    .map((half) => (half === '' ? [] : half.split(':')));
  return [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right]
    .slice(0, 4)
    .join(':');
}
