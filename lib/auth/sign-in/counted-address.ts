import { isIP } from 'node:net';
import { normalAddress } from '../../networks';

/** Who all are whose address nobody vouches for: they share what is counted. */
export const UNKNOWN_ADDRESS = 'unknown';

/**
 * The client as far as counting goes: an IPv4 address; an IPv6 network of 64 bits, since whoever has one
 * address has them all.
 *
 * @param forwardedFor `X-Forwarded-For`, which our server and Vercel set to exactly one address. Of a
 *   chain nobody knows which part the client wrote.
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
