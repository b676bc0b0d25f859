import { backup } from './backup';
import type { Command } from './command';
import { customerErase } from './customer-erase';
import { dbMigrate, dbRecount, dbSeed } from './database';
import { exportCommand } from './export';
import { importCommand } from './import';
import { importStripe } from './import-stripe';
import { reconcile } from './reconcile';
import { staff } from './staff';
import { token } from './token';

/** All commands that need the database, by npm script. The script `import` has a second command, `import stripe`. */
export const COMMANDS = {
  backup,
  'customer:erase': customerErase,
  'db:migrate': dbMigrate,
  'db:recount': dbRecount,
  'db:seed': dbSeed,
  export: exportCommand,
  import: importCommand,
  'import stripe': importStripe,
  reconcile,
  staff,
  token,
} as const satisfies Record<string, Command>;

export type CommandName = keyof typeof COMMANDS;

/** Returns true if a command has this name. The name may come from another process. */
export function isCommandName(name: string): name is CommandName {
  return Object.hasOwn(COMMANDS, name);
}
