import { commandActor } from '../audit/audit-log';
import { findCustomerId } from '../customers/match-customer';
import { DATABASE_VARIABLES } from '../env';
import { consequencesOf, eraseCustomer, requireErasable } from '../erasure/erase-customer';
import { StartError } from '../errors';
import { command, FLAG } from './command';

/** Erases the personal data of a customer. Without `--yes` it only prints the consequences. */
export const customerErase = command({
  usage: [
    'Usage: npm run customer:erase -- K10001 [--yes]',
    'Erases the personal data of a customer. Without --yes, it only prints what would be erased.',
  ],
  variables: [...DATABASE_VARIABLES, 'DOCUMENT_RETENTION_YEARS'],
  options: { yes: FLAG },
  positionals: 1,
  read: ({ yes }, [number]) => (number ? { number, yes } : undefined),
  async run({ number, yes }, { db, env, now }, { print }) {
    const id = await findCustomerId(db, number);
    if (id === null) throw new StartError([`There is no customer ${number}.`]);
    const found = await requireErasable(db, id);
    if (!yes) {
      for (const sentence of await consequencesOf(db, id, env.documentRetentionYears)) print(sentence);
      print(`Nothing was changed. To erase ${found}: npm run customer:erase -- ${found} --yes`);
      return 0;
    }
    const actor = commandActor('customer:erase');
    await eraseCustomer(db, id, { actor, now: now(), timeZone: env.timeZone });
    print(`${found} is erased.`);
    return 0;
  },
});
