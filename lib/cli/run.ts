import { carryOut } from './carry-out';
import { runCommand } from './run-command';

/** The npm scripts that need the database: `npm run token -- list` runs this file with `token list`. */
runCommand(carryOut);
