import { isIP } from 'node:net';

/** Who all are whose address nobody vouches for: they share what is counted. */
export const UNKNOWN_ADDRESS = 'unknown';

/**
 * The client as far as counting goes: an IPv4 address; an IPv6 network of 64 bits, since whoever has one
 * address has them all.
 *
 * @param forwardedFor `X-Forwarded-For`, which our server and Vercel set to exactly one address. Of a
 *   chain nobody knows which part the client wrote.
 */
export function clientAddress(forwardedFor: string | null): string {
  const text = forwardedFor?.trim() ?? '';
  if (isIP(text) === 4) return text;
  if (isIP(text) !== 6) return UNKNOWN_ADDRESS;
  const groups = expand(text);
  const mapped = groups.slice(0, 6).join() === '0,0,0,0,0,ffff';
  if (mapped) return groups.slice(6).flatMap(toBytes).join('.');
  return `${groups.slice(0, 4).join(':')}::`;
}

/** The eight groups of an IPv6 address, in the one spelling that the URL standard gives them. */
function expand(address: string): string[] {
  const [bare = ''] = address.split('%'); // a zone names an interface of ours
  const [head = '', tail] = new URL(`http://[${bare}]`).hostname.slice(1, -1).split('::');
  const groups = (half: string | undefined) => (half ? half.split(':') : []);
  const [left, right] = [groups(head), groups(tail)];
  return [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right];
}

function toBytes(group: string): number[] {
  const value = Number.parseInt(group, 16);
  return [value >> 8, value & 255];
}
