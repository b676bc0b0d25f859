import { recountLists } from '../counted-list/check-counts';
import { DATABASE_VARIABLES } from '../env-variables';
import { command } from './command';
import { readArguments } from './read-arguments';

const USAGE = [
  'Usage: npm run db:recount',
  'Counts the rows of all lists anew, adds up the sums of the overview, and tells what was wrong.',
];
const MAX_SHOWN = 20;

/** For when the daily job has found counts of lists that are wrong. */
export const dbRecount = command<void>({
  usage: USAGE,
  variables: DATABASE_VARIABLES,
  read: (args) => void readArguments(args, { usage: USAGE }),
  async run(_wanted, { db }, { print }) {
    for await (const { list, wrong } of recountLists(db)) {
      const name = list.replace('_', ' ').replace(/s?$/, 's');
      print(`${name}: ${wrong.length === 0 ? 'right' : `counted anew, ${wrong.length} wrong`}`);
      for (const { block, kind, excess } of wrong.slice(0, MAX_SHOWN)) {
        const rows = `${Math.abs(excess)} too ${excess > 0 ? 'many' : 'few'}`;
        print(`  from ${isFirst(block) ? 'the first' : block}${kind && `, ${kind}`}: ${rows}`);
      }
      if (wrong.length > MAX_SHOWN) print(`  … and ${wrong.length - MAX_SHOWN} more`);
    }
    return 0;
  },
});

const isFirst = (block: string) => block === '' || block.startsWith('-infinity');
