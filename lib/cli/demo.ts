import { readArguments } from '../commands/read-arguments';
import { requirePort } from '../server/listen';
import { buildWhenStale } from './build-when-stale';
import { readDemoEnv } from './demo/demo-env';
import { serveWorld } from './demo/local-stripe';
import { prepareDatabase } from './demo/prepare-database';
import { writeSettings } from './demo/settings';
import { welcome } from './demo/welcome';
import { runCommand } from './run-command';
import { startServerProcess, untilListening } from './server-process';
import { untilExit } from './until-exit';

const USAGE = [
  'Usage: npm run demo',
  'Everything, with sample data in DATA_DIR, or in an empty database of DATABASE_URL.',
];

runCommand(async (args) => {
  readArguments(args, { usage: USAGE });
  const demo = readDemoEnv();
  const { env, settings } = demo;
  await requirePort(env);
  // First, since it says no while another demo has the database, whose build must stay as it is.
  const { token, world } = await prepareDatabase(demo);
  writeSettings(env.dataDir, { ...settings, stripeLocalUrl: null });
  await buildWhenStale(() => console.log('Building, which takes about a minute after a change …'));
  const stripe = world && (await serveWorld(world, env));
  writeSettings(env.dataDir, { ...settings, stripeLocalUrl: stripe?.url ?? null });

  const variables = { ...demo.variables, ...(stripe && { STRIPE_API_BASE: stripe.url }) };
  const server = startServerProcess(variables);
  const exited = untilExit(server);
  if (await untilListening(server)) console.log(welcome({ ...demo, token }));
  const { code, stopped } = await exited;
  await stripe?.close();
  process.exitCode = stopped ? 0 : code;
});
