import { runDatabaseCommand } from './database-command';
import { runProgram } from './program';

/** Entry point of the npm scripts that need the database. `npm run token -- list` runs it with `token list`. */
runProgram(runDatabaseCommand);
