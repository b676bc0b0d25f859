import { runDatabaseCommand } from './database-command';
import { runProgram } from './program';

/** The npm scripts that need the database: `npm run token -- list` runs this file with `token list`. */
runProgram(runDatabaseCommand);
