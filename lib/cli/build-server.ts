import { bundleServer } from './build';
import { runCommand } from './run-command';

runCommand(() => bundleServer());
