import { inheritedEnv } from '../inherited-env';
import { startServerProcess, untilExit } from './child-process';

/** Start the server as a child process, because Node reads the size of its thread pool from the environment. */
const server = startServerProcess(inheritedEnv(), process.argv.slice(2));
process.exitCode = (await untilExit(server)).code;
