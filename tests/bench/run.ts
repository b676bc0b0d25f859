import { runProgram } from '@/lib/cli/program';
import { readArguments } from '@/lib/commands/command';
import { StartError } from '@/lib/errors';

/** Importing a bench runs it. */
const BENCHES: Record<string, () => Promise<unknown>> = {
  http: () => import('./http'),
  import: () => import('./imports'),
  lifecycle: () => import('./lifecycle'),
  mcp: () => import('./mcp'),
  pages: () => import('./pages'),
  payments: () => import('./payments'),
  reconcile: () => import('./reconcile'),
  scale: () => import('./scale'),
  webhook: () => import('./webhook'),
  writes: () => import('./writes'),
};

const USAGE = [`Usage: npm run bench -- NAME, with one of: ${Object.keys(BENCHES).join(', ')}`];

runProgram(async (args) => {
  const { positionals } = readArguments(args, { usage: USAGE, positionals: 1 });
  const bench = BENCHES[positionals[0] ?? ''];
  if (!bench) throw new StartError(USAGE);
  await bench();
});
