import { readEnv } from '../env';
import { stripeEvent } from './demo/stripe-event';
import { runProgram } from './program';

runProgram(async (args) => {
  const isTaken = await stripeEvent(args, readEnv(['DATA_DIR']).dataDir, console.log);
  if (!isTaken) process.exitCode = 1;
});
