import { createHash, createSign, generateKeyPairSync, randomBytes } from 'node:crypto';
import type { Page } from 'playwright';

interface PasskeyRequest {
  challenge: string;
  origin: string;
}

const RP_ID = 'localhost';
const sha256 = (data: Buffer) => createHash('sha256').update(data).digest();
const text = (bytes: Buffer) => bytes.toString('base64url');

/** Simulates a device with one passkey and a verified user. The binary values are base64url texts. */
export function createAuthenticator() {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const id = randomBytes(16);
  let userHandle = '';
  const clientData = (type: string, asked: PasskeyRequest) => Buffer.from(JSON.stringify({ type, ...asked }));
  // The flags state whether the user was present and verified.
  const head = (flags: number) => Buffer.concat([sha256(Buffer.from(RP_ID)), Buffer.of(flags, 0, 0, 0, 0)]);

  const makePasskey = (asked: PasskeyRequest, user: string) => {
    userHandle = user;
    const key = [hex('a5010203262001215820'), from64(x), hex('225820'), from64(y)];
    const data = Buffer.concat([head(0x45), Buffer.alloc(16), Buffer.of(0, id.length), id, ...key]);
    const attestationHeader = Buffer.from('\xa3cfmtdnonegattStmt\xa0hauthData', 'latin1');
    return {
      id: text(id),
      clientDataJSON: text(clientData('webauthn.create', asked)),
      attestationObject: text(Buffer.concat([attestationHeader, Buffer.of(0x58, data.length), data])),
    };
  };
  const presentPasskey = (asked: PasskeyRequest) => {
    const client = clientData('webauthn.get', asked);
    const data = head(0x05);
    const signature = createSign('sha256')
      .update(Buffer.concat([data, sha256(client)]))
      .sign(privateKey);
    return {
      id: text(id),
      clientDataJSON: text(client),
      authenticatorData: text(data),
      signature: text(signature),
      userHandle,
    };
  };
  return { makePasskey, presentPasskey };
}

/**
 * Gives a page the simulated device, from its next navigation on. The headless browser supports no authenticator, not
 * even a virtual one, and crashes when a page asks for a passkey.
 */
export async function giveAuthenticator(page: Page): Promise<void> {
  for (const [name, answer] of Object.entries(createAuthenticator())) await page.exposeFunction(name, answer);
  await page.addInitScript(replaceCredentials);
}

const hex = (digits: string) => Buffer.from(digits, 'hex');
const from64 = (digits: string) => Buffer.from(digits, 'base64url');

type Given = { publicKey: { challenge: ArrayBuffer; user?: { id: ArrayBuffer } } };

/** Replaces the passkey functions of the browser. Runs in the page. */
function replaceCredentials(): void {
  const to64 = (bytes: ArrayBuffer) =>
    btoa(String.fromCharCode(...new Uint8Array(bytes)))
      .replace(/\+/g, '-')
      .replace(/\//g, '_')
      .replace(/=/g, '');
  const toBytes = (digits: string) =>
    Uint8Array.from(atob(digits.replace(/-/g, '+').replace(/_/g, '/')), (one) => one.charCodeAt(0)).buffer;
  const world = window as unknown as Record<string, (...args: unknown[]) => Promise<Record<string, string>>>;
  const ask = async (name: string, { publicKey: { challenge, user } }: Given) => {
    const asked = { challenge: to64(challenge), origin: location.origin };
    const { id = '', ...response } = (await world[name]?.(asked, user && to64(user.id))) ?? {};
    const parts = Object.entries(response).map(([part, digits]) => [part, toBytes(digits)]);
    return {
      id,
      rawId: toBytes(id),
      type: 'public-key',
      response: Object.fromEntries(parts),
      getClientExtensionResults: () => ({}),
    };
  };
  const replaced = {
    create: (given: Given) => ask('makePasskey', given),
    get: (given: Given) => ask('presentPasskey', given),
  };
  Object.defineProperty(navigator, 'credentials', { value: replaced });
}
