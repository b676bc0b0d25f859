import type { Orders, Reported } from './campaign';
import { checkHistory } from './check-history';
import { openOwnDatabase } from './database';
import { openStage } from './database-stage';
import { openPureStage } from './pure/pure-stage';
import { seedOf } from './seed';
import { add, noTotals } from './totals';

const TELL_MS = 500;
/** Looking costs a moment, so ever more seldom: by so much each time, and after this many at the latest. */
const LOOK_GROWTH = 1.5;
const LOOK_AFTER = 5000;

/**
 * A share of a campaign, on a stage of its own.
 *
 * @param unreached looks what of `decide` was not reached yet, where that is wanted
 */
export async function work(
  { campaign, from, by, until, server, isPure, shrinkFor }: Orders,
  unreached: (() => Promise<string[]>) | null,
): Promise<void> {
  let isStopped = false;
  const stop = () => {
    isStopped = true;
  };
  process.on('message', stop);
  process.on('disconnect', stop); // whoever started it is gone
  const stage = isPure ? openPureStage() : await openStage(await openOwnDatabase(server));
  let done = noTotals();
  let reported = Date.now();
  let played = 0;
  let look = 100;
  for (let at = from; at < until && !isStopped; at += by) {
    const checked = await checkHistory(stage, seedOf(campaign, at), shrinkFor);
    if ('failure' in checked) {
      await tell(checked);
      break;
    }
    add(done, { ...checked.outcome, histories: 1 });
    played += 1;
    const isLast = at + by >= until;
    const isLook = unreached !== null && (played >= look || isLast);
    if (Date.now() - reported < TELL_MS && !isLast && !isLook) continue;
    const unseen = isLook ? { unreached: await unreached() } : {};
    if (isLook) look = Math.min(played * LOOK_GROWTH, played + LOOK_AFTER);
    await tell({ next: at + by, done, ...unseen });
    done = noTotals();
    reported = Date.now();
  }
  await stage.close();
}

const tell = (reported: Reported) =>
  new Promise<void>((resolve, reject) => {
    if (!process.connected) resolve();
    else process.send?.(reported, (error) => (error ? reject(error) : resolve()));
  });
