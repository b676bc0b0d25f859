import { add, noTotals, type Orders, type Told } from './campaign';
import { checkHistory } from './check-history';
import { openOwnDatabase } from './database';
import { openStage } from './database-stage';
import { seedOf } from './seed';

const TELL_MS = 500;

/** A share of a campaign, on a database of its own. */
async function work({ campaign, from, by, until, server, shrinkFor }: Orders): Promise<void> {
  let isStopped = false;
  const stop = () => {
    isStopped = true;
  };
  process.on('message', stop);
  process.on('disconnect', stop); // whoever started it is gone
  const stage = await openStage(await openOwnDatabase(server));
  let done = noTotals();
  let told = Date.now();
  for (let at = from; at < until && !isStopped; at += by) {
    const checked = await checkHistory(stage, seedOf(campaign, at), shrinkFor);
    if ('failure' in checked) {
      await tell(checked);
      break;
    }
    add(done, { ...checked.outcome, histories: 1 });
    if (Date.now() - told < TELL_MS && at + by < until) continue;
    await tell({ next: at + by, done });
    done = noTotals();
    told = Date.now();
  }
  await stage.close();
}

const tell = (told: Told) =>
  new Promise<void>((resolve, reject) => {
    if (!process.connected) resolve();
    else process.send?.(told, (error) => (error ? reject(error) : resolve()));
  });

await work(JSON.parse(process.argv[2] ?? '{}') as Orders);
process.exit(0);
