import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CERTIFICATE, KEY } from '../../support/certificate';

const PRELOADED = pathToFileURL(join(import.meta.dirname, 'small-internet.mjs'));

export interface DocumentHost {
  /** With them a server finds the documents where they say that they are. */
  env: Record<string, string>;
  close(): Promise<void>;
}

/**
 * Publishes metadata documents of clients at their own https addresses, for the one server that is started with
 * `env`. The product knows nothing of it: its name resolution and connections are diverted from outside.
 */
export async function publishDocuments(documents: { client_id: string }[]): Promise<DocumentHost> {
  const found = new Map(documents.map((document) => [document.client_id, document]));
  const server = createServer({ key: KEY, cert: CERTIFICATE }, (request, response) => {
    const document = found.get(`https://${request.headers.host}${request.url}`);
    response.writeHead(document ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(document ?? {}));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  const folder = mkdtempSync(join(tmpdir(), 'w5t-certificate-'));
  const certificate = join(folder, 'certificate.pem');
  writeFileSync(certificate, CERTIFICATE);
  const names = new Set([...found.keys()].map((id) => new URL(id).host));
  return {
    env: {
      NODE_OPTIONS: `--import ${PRELOADED}`,
      NODE_EXTRA_CA_CERTS: certificate,
      SMALL_INTERNET: [port, ...names].join(','),
    },
    async close() {
      rmSync(folder, { recursive: true, force: true });
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
