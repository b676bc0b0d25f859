import type { Env } from '../../env';
import type { DemoSettings } from './settings';

interface Running {
  env: Env;
  settings: DemoSettings;
  token: string;
  /** False: events come from a Stripe of its owner's. */
  ownStripe: boolean;
}

/** The text that the demo prints once it runs. Each command in it works when pasted. */
export function welcome({ env, settings, token, ownStripe }: Running): string {
  const url = env.publicUrl;
  return `
The demo runs at ${url} with its data in ${env.databaseUrl ? 'the database of DATABASE_URL' : env.dataDir}.

Staff pages: ${url}/admin
  E-mail:   ${settings.staffEmail}
  Password: ${settings.staffPassword}

An access token with all scopes, valid for this run:
ACCESS_TOKEN=${token}

The payments API:
curl -s -H "Authorization: Bearer ${token}" "${url}/api/w5t/payments?per_page=2"

The tools, for an MCP client:
${JSON.stringify(mcpClient(url, token), null, 2)}

${ownStripe ? events() : 'Events come from the Stripe account of STRIPE_SECRET_KEY.'}

Ctrl-C stops everything and keeps the data.
`;
}

function mcpClient(url: string, token: string) {
  const headers = { Authorization: `Bearer ${token}` };
  return { mcpServers: { w5t: { type: 'http', url: `${url}/mcp`, headers } } };
}

function events(): string {
  return `Something happens at Stripe (in a second terminal; without a type it lists what can happen):
npm run stripe:event -- invoice.payment_failed

The webhook does not hear of it, and reconciliation finds it:
npm run stripe:event -- invoice.paid --silent`;
}
