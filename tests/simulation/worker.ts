import type { Orders, Reported } from './campaign';
import { startCoverage } from './pure/coverage';

// This process runs a share of a campaign's histories on its own stage.

const REPORT_MS = 500;
/**
 * Reading the coverage is slow, so the worker reads it again only after the number of histories has grown by this
 * factor or by `LOOK_AFTER`.
 */
const LOOK_GROWTH = 1.5;
const LOOK_AFTER = 5000;

const { campaign, from, by, until, server, isPure, isCovered, shrinkFor } = JSON.parse(
  process.argv[2] ?? '{}',
) as Orders;
let isStopped = false;
const stop = () => {
  isStopped = true;
};
process.on('message', stop);
process.on('disconnect', stop); // The campaign was killed.

// V8 counts blocks only in code that is compiled after the coverage starts. So the other imports must follow.
const coverage = isCovered ? await startCoverage() : null;
const { add, checkHistory, noTotals, seedOf } = await import('./check-history');
const { openOwnDatabase, openStage } = await import('./database-stage');
const { openPureStage } = await import('./pure/pure-stage');
await coverage?.readSources();

const stage = isPure ? openPureStage() : await openStage(await openOwnDatabase(server));
let done = noTotals();
let reported = Date.now();
let played = 0;
let look = 100;
for (let at = from; at < until && !isStopped; at += by) {
  const checked = await checkHistory(stage, seedOf(campaign, at), shrinkFor);
  if ('failure' in checked) {
    await report(checked);
    break;
  }
  add(done, { ...checked.outcome, histories: 1 });
  played += 1;
  const isLast = at + by >= until;
  const isLook = coverage !== null && (played >= look || isLast);
  if (Date.now() - reported < REPORT_MS && !isLast && !isLook) continue;
  const unseen = isLook ? { unreached: await coverage.take() } : {};
  if (isLook) look = Math.min(played * LOOK_GROWTH, played + LOOK_AFTER);
  await report({ next: at + by, done, ...unseen });
  done = noTotals();
  reported = Date.now();
}
await stage.close();
process.exit(0);

function report(reported: Reported): Promise<void> {
  return new Promise((resolve, reject) => {
    if (!process.connected) resolve();
    else process.send?.(reported, (error) => (error ? reject(error) : resolve()));
  });
}
