import { readEnv } from '../env';
import { stripeEvent } from './demo/stripe-event';
import { runCommand } from './run-command';

runCommand(async (args) => {
  const isTaken = await stripeEvent(args, readEnv(['DATA_DIR']).dataDir, console.log);
  if (!isTaken) process.exitCode = 1;
});
