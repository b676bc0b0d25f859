import type { Source } from './sources';

/** The folder and the files that Next.js loads by their names. */
const APP = ['app', 'proxy.ts', 'instrumentation.ts'];

/**
 * The layers, from the top down. A file may import its own folder and the folders on lower lines, but not other
 * folders on its own line. Files in `db` may also import the files in `BELOW_DB`.
 */
const LAYERS: string[][] = [
  [...APP, 'lib/cli'],
  ['lib/server', 'lib/stripe-local'],
  ['lib/mcp', 'lib/openapi'],
  ['lib/http', 'lib/overview'],
  ['lib/uploads'],
  ['lib/bank', 'lib/commands'],
  ['lib/alerts', 'lib/erasure', 'lib/exports', 'lib/imports'],
  ['lib/documents', 'lib/health', 'lib/metrics', 'lib/search', 'lib/timeline'],
  ['lib/staff'],
  ['lib/auth'],
  ['lib/tokens'],
  ['lib/sync'],
  ['lib/oauth', 'lib/tool-calls'],
  ['lib/payments', 'lib/subscriptions', 'lib/sales-documents'],
  ['lib/invoices'],
  ['lib/services'],
  ['lib/customers', 'lib/servers'],
  ['lib/records'],
  ['lib/store'],
  ['lib/audit', 'lib/counted-list', 'lib/tasks'],
  ['lib/runtime.ts'],
  ['lib/stripe'],
  ['lib/*.ts'],
  ['db'],
];

/** The folders of the staff pages' components, from the top down. None of them imports other files of the staff pages. */
const COMPONENT_FOLDERS = ['shell', 'search', 'audit', 'forms', 'records', 'lists', 'page', 'display'];

/** Folders that may import Next.js and the runtime. All other folders are domains, which import neither. */
const ENTRY_POINTS = [
  ...[...APP, 'db', 'lib/cli', 'lib/server', 'lib/stripe-local', 'lib/mcp'],
  ...['lib/openapi', 'lib/http', 'lib/uploads', 'lib/commands', 'lib/staff', 'lib/auth', 'lib/tokens'],
  ...['lib/oauth', 'lib/tool-calls', 'lib/runtime.ts', 'lib/*.ts'],
];

/** Pure files that import none of our files. Files in `db` may import them, for the sample data. */
const BELOW_DB = ['lib/chance.ts', 'lib/dates.ts', 'lib/line-hash.ts', 'lib/money.ts', 'lib/overdue.ts'];

const PARTS = 'app/admin/_components/';
const DRIVER = /^(@electric-sql\/|postgres$|pg$|drizzle-orm\/(pglite|postgres-js))/;

const RULES: { says: string; broken(from: string, target: string): boolean }[] = [
  {
    says: 'imports go down only (tests/architecture/layers.ts)',
    broken: (from, target) =>
      /^((app|lib|db|tests)\/|(proxy|instrumentation)\.ts$)/.test(target) &&
      folderOf(from) !== folderOf(target) &&
      depth(from) >= depth(target) &&
      !(folderOf(from) === 'db' && BELOW_DB.includes(target)),
  },
  {
    says: 'app reaches the database through lib only',
    // db/per-process.ts does not reach the database.
    broken: (from, target) =>
      APP.includes(folderOf(from)) && /^(db\/|drizzle-orm)/.test(target) && target !== 'db/per-process.ts',
  },
  {
    says: 'database drivers are imported in db only',
    broken: (from, target) => DRIVER.test(target) && folderOf(from) !== 'db',
  },
  {
    says: 'domains know neither Next.js nor the runtime: they are given what they use',
    broken: (from, target) =>
      !ENTRY_POINTS.includes(folderOf(from)) && (/^next(\/|$)/.test(target) || target === 'lib/runtime.ts'),
  },
  {
    says: 'the local Stripe API is for lib/cli and tests',
    broken: (from, target) =>
      folderOf(target) === 'lib/stripe-local' && !['lib/cli', 'lib/stripe-local'].includes(folderOf(from)),
  },
  {
    says: "the staff pages' parts import downwards only (COMPONENT_FOLDERS), and no page",
    broken: (from, target) =>
      from.startsWith(PARTS) &&
      target.startsWith('app/admin/') &&
      (!target.startsWith(PARTS) || partDepth(from) > partDepth(target)),
  },
  {
    says: 'the product does not import tests',
    broken: (_from, target) => target.startsWith('tests/'),
  },
];

/** Lists the imports that break a rule, such as `lib/money.ts:3 imports lib/cli/run.ts: imports go down only …`. */
export function brokenImports(sources: Source[]): string[] {
  return sources.flatMap(({ path, imports }) =>
    imports.flatMap(({ line, target }) =>
      RULES.filter((rule) => rule.broken(path, target)).map(
        (rule) => `${path}:${line} imports ${target}: ${rule.says}`,
      ),
    ),
  );
}

/** Lists folders without a layer, and staff page components outside the folders in `COMPONENT_FOLDERS`. */
export function homeless(sources: Source[]): string[] {
  const folders = new Set(sources.map(({ path }) => folderOf(path)));
  const parts = sources.map(({ path }) => path).filter((path) => path.startsWith(PARTS));
  return [
    ...[...folders].filter((folder) => !LAYERS.flat().includes(folder)),
    ...parts.filter((path) => partDepth(path) < 0),
  ];
}

function depth(path: string): number {
  return LAYERS.findIndex((layer) => layer.includes(folderOf(path)));
}

function partDepth(path: string): number {
  return COMPONENT_FOLDERS.indexOf(path.slice(PARTS.length).split('/')[0] ?? '');
}

/**
 * Returns the folder that the rules use for a path, such as `app` or `lib/payments`. It is `lib/*.ts` for a file
 * directly in lib, except for lib/runtime.ts, which is its own folder.
 */
function folderOf(path: string): string {
  if (path === 'lib/runtime.ts') return path;
  const [top = '', folder, file] = path.split('/');
  if (top !== 'lib') return top;
  return file === undefined ? 'lib/*.ts' : `lib/${folder}`;
}

/**
 * Lists import cycles as `a.ts -> b.ts -> a.ts`, at least one for each group of files that import each other. Type
 * imports count.
 */
export function findCycles(sources: Source[]): string[] {
  const graph = new Map(sources.map(({ path, imports }) => [path, imports.map(({ target }) => target)]));
  const done = new Set<string>();
  const trail: string[] = [];
  const cycles: string[] = [];
  const visit = (path: string) => {
    const at = trail.indexOf(path);
    if (at >= 0) cycles.push([...trail.slice(at), path].join(' -> '));
    if (at >= 0 || done.has(path)) return;
    trail.push(path);
    for (const target of graph.get(path) ?? []) visit(target);
    trail.pop();
    done.add(path);
  };
  for (const path of graph.keys()) visit(path);
  return cycles;
}

/**
 * Lists the files of each folder of `lib` that other folders import, one folder per line. A folder is a module, so a
 * new public file is a decision: use a file that is already public, or update the list with `npm test -- -u`.
 */
export function publicFiles(sources: Source[]): string {
  const filesOf = new Map<string, Set<string>>();
  for (const { path, imports } of sources) {
    for (const { target } of imports) {
      const [, folder, file] = /^lib\/([^/]+)\/(.+)\.tsx?$/.exec(target) ?? [];
      if (!folder || !file || path.startsWith(`lib/${folder}/`)) continue;
      filesOf.set(folder, (filesOf.get(folder) ?? new Set()).add(file));
    }
  }
  const lines = [...filesOf].map(([folder, files]) => `${folder}: ${[...files].sort().join(', ')}\n`);
  return lines.sort().join('');
}
