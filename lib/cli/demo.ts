import { readArguments } from '../commands/command';
import { requirePort } from '../server/listen';
import { buildWhenStale } from './build';
import { startServerProcess, untilExit, untilListening } from './child-process';
import { serveWorld } from './demo/local-stripe';
import { prepareDatabase } from './demo/prepare-database';
import { type DemoEnv, readDemoEnv, writeSettings } from './demo/settings';
import { runProgram } from './program';

const USAGE = [
  'Usage: npm run demo',
  'Starts everything with sample data, in DATA_DIR or in an empty database of DATABASE_URL.',
];

runProgram(async (args) => {
  readArguments(args, { usage: USAGE });
  const demo = readDemoEnv();
  const { env, settings } = demo;
  await requirePort(env);
  // Prepare the database before building. This fails if another demo is running, which still needs the old build.
  const { token, world } = await prepareDatabase(demo);
  writeSettings(env.dataDir, { ...settings, stripeLocalUrl: null });
  await buildWhenStale(() => console.log('Building, which takes about a minute after a change …'));
  const stripe = world && (await serveWorld(world, env));
  writeSettings(env.dataDir, { ...settings, stripeLocalUrl: stripe?.url ?? null });

  const variables = { ...demo.variables, ...(stripe && { STRIPE_API_BASE: stripe.url }) };
  const server = startServerProcess(variables);
  const exited = untilExit(server);
  if (await untilListening(server)) console.log(welcome(demo, token));
  const { code, stopped } = await exited;
  await stripe?.close();
  process.exitCode = stopped ? 0 : code;
});

/** Returns the text that the demo prints once it runs. Each command in the text works when pasted. */
function welcome({ env, settings, ownStripe }: DemoEnv, token: string): string {
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
  return `Make something happen at Stripe, in a second terminal (without a type, the command lists the types):
npm run stripe:event -- invoice.payment_failed

Make something happen without calling the webhook, so that only reconciliation finds it:
npm run stripe:event -- invoice.paid --silent`;
}
