import { bundleServer } from './build';
import { runProgram } from './program';

runProgram(() => bundleServer());
