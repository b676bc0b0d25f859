import { bundleServer } from './bundle-server';
import { runCommand } from './run-command';

runCommand(() => bundleServer());
