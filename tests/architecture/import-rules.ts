import { BELOW_DB, DOMAINS, isOurs, LAYERS, PAGE_ROOMS, roomOf } from './layers';
import type { Source } from './sources';

interface Rule {
  says: string;
  broken(from: string, target: string): boolean;
}

const PARTS = 'app/admin/_components/';
const DRIVER = /^(@electric-sql\/|postgres$|pg$|drizzle-orm\/(pglite|postgres-js))/;

const RULES: Rule[] = [
  {
    says: 'imports go down only (tests/architecture/layers.ts)',
    broken: (from, target) =>
      isOurs(target) &&
      roomOf(from) !== roomOf(target) &&
      depth(from) >= depth(target) &&
      !isLeafOfDb(from, target),
  },
  {
    says: 'app reaches the database through lib only',
    broken: (from, target) => roomOf(from) === 'app' && /^(db\/|drizzle-orm)/.test(target),
  },
  {
    says: 'database drivers are imported in db only',
    broken: (from, target) => DRIVER.test(target) && roomOf(from) !== 'db',
  },
  {
    says: 'domains know neither Next.js nor the runtime: they are given what they use',
    broken: (from, target) =>
      DOMAINS.includes(roomOf(from)) && (/^next(\/|$)/.test(target) || target === 'lib/runtime.ts'),
  },
  {
    says: 'the local Stripe API is for commands and tests',
    broken: (from, target) =>
      roomOf(target) === 'lib/stripe-local' && !['lib/cli', 'lib/stripe-local'].includes(roomOf(from)),
  },
  {
    says: "the staff pages' parts import downwards only (PAGE_ROOMS), and no page",
    broken: (from, target) => {
      if (!from.startsWith(PARTS) || !target.startsWith('app/admin/')) return false;
      if (!target.startsWith(PARTS)) return !/\/path(\.ts)?$/.test(target);
      return partDepth(from) > partDepth(target);
    },
  },
  {
    says: 'the product does not import tests',
    broken: (_from, target) => target.startsWith('tests/'),
  },
];

/** One line per import that breaks a rule: `lib/money.ts:3 imports db/client.ts: imports go down only`. */
export function brokenImports(sources: Source[]): string[] {
  return sources.flatMap(({ path, imports }) =>
    imports.flatMap(({ line, target }) =>
      RULES.filter((rule) => rule.broken(path, target)).map(
        (rule) => `${path}:${line} imports ${target}: ${rule.says}`,
      ),
    ),
  );
}

/** Folders that no layer names, and the staff pages' parts without a room. */
export function homeless(sources: Source[]): string[] {
  const rooms = new Set(sources.map(({ path }) => roomOf(path)));
  const parts = sources.map(({ path }) => path).filter((path) => path.startsWith(PARTS));
  return [
    ...[...rooms].filter((room) => !LAYERS.flat().includes(room)),
    ...parts.filter((path) => partDepth(path) < 0),
  ];
}

function depth(path: string): number {
  return LAYERS.findIndex((layer) => layer.includes(roomOf(path)));
}

function partDepth(path: string): number {
  return PAGE_ROOMS.indexOf(path.slice(PARTS.length).split('/')[0] ?? '');
}

function isLeafOfDb(from: string, target: string): boolean {
  return roomOf(from) === 'db' && BELOW_DB.includes(target);
}
