import { runCommand } from '@/lib/cli/run-command';
import { readArguments } from '@/lib/commands/read-arguments';
import { StartError } from '@/lib/errors';

const BENCHES: Record<string, () => Promise<unknown>> = {
  http: () => import('./http/bench'),
  import: () => import('./imports/bench'),
  lifecycle: () => import('./lifecycle/bench'),
  mcp: () => import('./mcp/bench'),
  pages: () => import('./pages/bench'),
  payments: () => import('./payments/bench'),
  reconcile: () => import('./reconcile/bench'),
  scale: () => import('./scale/bench'),
  webhook: () => import('./webhook/bench'),
  writes: () => import('./writes/bench'),
};

const USAGE = [`Usage: npm run bench -- NAME, with one of: ${Object.keys(BENCHES).join(', ')}`];

runCommand(async (args) => {
  const { positionals } = readArguments(args, { usage: USAGE, positionals: 1 });
  const bench = BENCHES[positionals[0] ?? ''];
  if (!bench) throw new StartError(USAGE);
  await bench();
});
