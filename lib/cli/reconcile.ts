import { inheritedEnv, readEnv } from '../env';
import { createRuntime } from '../runtime';
import { reconcile } from '../sync/reconcile';
import { syncDeps } from '../sync/sync-deps';
import { runCommand } from './run-command';

runCommand(async () => {
  const runtime = await createRuntime(readEnv());
  try {
    const startedBy = inheritedEnv().USER ?? null;
    const run = await reconcile(syncDeps(runtime), { trigger: 'cli', startedBy });
    if (run.alreadyRunning) return console.log(`Run ${run.runId} is under way already.`);
    if (run.stripeSkipped) console.log('STRIPE_SECRET_KEY is not set: only our own data was checked.');
    console.log(
      `Run ${run.runId} ${run.status.replaceAll('_', ' ')}: ${run.checked} checked, ${run.changes} changed, ${run.failures} failed.`,
    );
    if (run.status !== 'completed') process.exitCode = 1;
  } finally {
    await runtime.close();
  }
});
