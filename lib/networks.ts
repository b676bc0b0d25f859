import { BlockList, isIP } from 'node:net';

/**
 * Addresses and networks as one list to check addresses against.
 *
 * @param entries such as `10.0.0.0/8`, `192.0.2.7` and `fd00::/8`
 * @throws RangeError naming the first that is neither
 */
export function toNetworks(entries: string[]): BlockList {
  const networks = new BlockList();
  for (const entry of entries) {
    const [address = '', bits, ...rest] = entry.split('/');
    const longest = isIP(address) === 6 ? 128 : 32;
    const prefix = bits === undefined ? longest : Number(bits);
    if (!isIP(address) || rest.length > 0 || !/^\d*$/.test(bits ?? '') || bits === '' || prefix > longest) {
      throw new RangeError(entry);
    }
    networks.addSubnet(address, prefix, familyOf(address));
  }
  return networks;
}

/** @param address as `normalAddress` gives it */
export function isWithin(networks: BlockList, address: string): boolean {
  return networks.check(address, familyOf(address));
}

/**
 * The one way an address is written here: IPv4 where IPv6 only carries one, and no zone.
 *
 * @returns null for what is no address
 */
export function normalAddress(text: string): string | null {
  const address = text.replace(/%.*$/, '').replace(/^::ffff:(?=\d+\.)/i, '');
  return isIP(address) ? address.toLowerCase() : null;
}

/**
 * The wider networks that an address belongs to, the widest last: a customer of a provider often has an IPv6 network
 * of 56 or 48 bits, and with it hundreds of counted addresses.
 *
 * @param address as `countedAddress` gives it: an IPv6 network of 64 bits, an IPv4 address or `unknown`
 */
export function widerNetworks(address: string): string[] {
  const [first, second, third, fourth = '0'] = address.slice(0, -2).split(':');
  if (third === undefined) return []; // IPv4, or unknown
  const high = (Number.parseInt(fourth, 16) & 0xff00).toString(16);
  return [`${first}:${second}:${third}:${high}::/56`, `${first}:${second}:${third}::/48`];
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}

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
