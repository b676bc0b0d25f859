import { BlockList, isIP } from 'node:net';

/**
 * Converts IP addresses and networks to one list that IP addresses can be checked against.
 *
 * @param entries entries such as `10.0.0.0/8`, `192.0.2.7` and `fd00::/8`
 * @throws RangeError whose message is the first entry that is neither an IP address nor a network
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

/** Returns whether an IP address is in one of the networks. @param address a result of `normalAddress` */
export function isWithin(networks: BlockList, address: string): boolean {
  return networks.check(address, familyOf(address));
}

/**
 * Normalizes an IP address: `::ffff:192.0.2.7` becomes plain IPv4, and a zone such as `%eth0` is removed.
 *
 * @returns null if the text is not an IP address
 */
export function normalAddress(text: string): string | null {
  const address = text.replace(/%.*$/, '').replace(/^::ffff:(?=\d+\.)/i, '');
  return isIP(address) ? address.toLowerCase() : null;
}

/**
 * Returns the wider networks of an IPv6 network, the widest last. Returns no networks for any other address. Internet
 * providers often give one customer a /56 or /48 IPv6 network, which contains at least 256 different results of
 * `countedAddress`.
 *
 * @param address a result of `countedAddress`: an IPv6 network of 64 bits, an IPv4 address or `unknown`
 */
export function widerNetworks(address: string): string[] {
  const [first, second, third, fourth = '0'] = address.slice(0, -2).split(':');
  if (third === undefined) return []; // The text is an IPv4 address, or `unknown`.
  const high = (Number.parseInt(fourth, 16) & 0xff00).toString(16);
  return [`${first}:${second}:${third}:${high}::/56`, `${first}:${second}:${third}::/48`];
}

/**
 * Returns the widest network that one client is assumed to have: the last of `widerNetworks`, or the address itself.
 *
 * @param address a result of `countedAddress`
 */
export const widestNetwork = (address: string): string => widerNetworks(address).at(-1) ?? address;

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}

/** Rate limit key that all clients without a trusted IP address share. */
export const UNKNOWN_ADDRESS = 'unknown';

/**
 * Returns the rate limit key of a client: an IPv4 address, an IPv6 network of 64 bits, or `unknown`. A client with one
 * IPv6 address usually has all addresses of its network.
 *
 * @param forwardedFor `X-Forwarded-For`, which our server and Vercel set to exactly one address. A list of several
 *   addresses is not trusted, because the client may have written a part of it.
 */
export function countedAddress(forwardedFor: string | null): string {
  const address = normalAddress(forwardedFor?.trim() ?? '');
  if (address === null) return UNKNOWN_ADDRESS;
  return isIP(address) === 4 ? address : `${networkOf(address)}::`;
}

/** Returns the first four of the eight groups of an IPv6 address, in the normal form of the URL standard. */
function networkOf(address: string): string {
  const [left = [], right = []] = new URL(`http://[${address}]`).hostname
    .slice(1, -1)
    .split('::')
    .map((half) => (half === '' ? [] : half.split(':')));
  return [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right]
    .slice(0, 4)
    .join(':');
}
