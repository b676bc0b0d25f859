import { lookup as dnsLookup, type LookupAddress } from 'node:dns';
import { request } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { isWithin, normalAddress, toNetworks } from '../networks';

const MAX_DOCUMENT_BYTES = 65_536;
const DOCUMENT_MS = 5000;

/** Everything that is not the public internet (IANA's special-purpose registries), and what may lead there. */
const CLOSED = toNetworks([
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15'],
  ...['198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
]);
/** Of IPv6 only 2000::/3 is global unicast; of it not what tunnels to other addresses, or is for documents. */
const GLOBAL6 = toNetworks(['2000::/3']);
const CLOSED6 = toNetworks(['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']);

/** Whether an address is one of the public internet. */
export function isPublicAddress(text: string): boolean {
  const address = normalAddress(text);
  if (address === null) return false;
  if (isIP(address) === 4) return !isWithin(CLOSED, address);
  return isWithin(GLOBAL6, address) && !isWithin(CLOSED6, address);
}

type Resolve = (host: string, done: (error: Error | null, found: LookupAddress[]) => void) => void;

const resolveAll: Resolve = (host, done) =>
  dnsLookup(host, { all: true }, (error, found) => done(error, found ?? []));

/**
 * A lookup that answers public addresses only. The connection is made to what it answers, so that a name
 * cannot point elsewhere between the check and the connection; one closed address closes the name.
 */
export function publicLookup(resolve: Resolve = resolveAll): LookupFunction {
  return (host, options, done) =>
    resolve(host, (error, found) => {
      const [first] = found;
      if (error || !first) return done(error ?? new Error('the name has no address'), '');
      if (!found.every(({ address }) => isPublicAddress(address))) {
        return done(new Error('the address is not public'), '');
      }
      if (options.all) done(null, found);
      else done(null, first.address, first.family);
    });
}

interface Settings {
  lookup?: LookupFunction;
  port?: number;
  ca?: string;
  ms?: number;
}

/**
 * Reads the JSON at an https address of the public internet: no redirects, 64 KB, 5 seconds for everything.
 *
 * @throws Error saying what was wrong, without what was received
 */
export function fetchDocument(url: URL, settings: Settings = {}): Promise<unknown> {
  const { lookup = publicLookup(), ms = DOCUMENT_MS, ...rest } = settings;
  if (isIP(url.hostname.replace(/^\[|\]$/g, '')) !== 0)
    throw new Error('an address stands in place of a name');
  return new Promise((resolve, reject) => {
    const asked = request(
      url,
      { ...rest, lookup, agent: false, headers: { Accept: 'application/json' } },
      (answer) => {
        const type = answer.headers['content-type'] ?? '';
        if (answer.statusCode !== 200) return fail(`the answer was ${answer.statusCode}`);
        if (!/^application\/([\w.-]+\+)?json\s*(;|$)/i.test(type)) return fail('the answer is not JSON');
        const chunks: Buffer[] = [];
        let size = 0;
        answer.on('data', (chunk: Buffer) => {
          size += chunk.byteLength;
          if (size > MAX_DOCUMENT_BYTES) return fail('the document is too large');
          chunks.push(chunk);
        });
        answer.on('error', () => fail('the answer broke off'));
        answer.on('end', () => {
          try {
            resolve(JSON.parse(Buffer.concat(chunks).toString()));
          } catch {
            fail('the document is not JSON');
          } finally {
            clearTimeout(timer);
          }
        });
      },
    );
    const fail = (reason: string) => {
      clearTimeout(timer);
      asked.destroy();
      reject(new Error(reason));
    };
    const timer = setTimeout(() => fail('the document took too long'), ms);
    asked.on('error', (error) => fail(error.message));
    asked.end();
  });
}
