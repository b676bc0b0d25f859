import { inheritedEnv } from '../inherited-env';
import { startServerProcess, untilExit } from './child-process';

/** Only starts the server, which says itself what is wrong: the size of node's thread pool is its environment's. */
const server = startServerProcess(inheritedEnv(), process.argv.slice(2));
process.exitCode = (await untilExit(server)).code;
