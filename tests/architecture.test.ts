import { describe, expect, test } from 'vitest';
import { findCycles } from './architecture/import-cycles';
import { brokenImports, homeless } from './architecture/import-rules';
import { moduleState } from './architecture/module-state';
import { oldWordsIn } from './architecture/old-words';
import { parseSource, readSources } from './architecture/sources';
import { usesOfTheWorld } from './architecture/world-rules';

describe('architecture', () => {
  const sources = readSources(['app', 'lib', 'db']);
  const product = sources.filter(({ path }) => !path.startsWith('db/'));

  test('every folder has a layer', () => {
    expect(product.length).toBeGreaterThan(50);
    expect(homeless(sources)).toEqual([]);
  });

  test('imports follow the rules', () => {
    expect(brokenImports(sources)).toEqual([]);
  });

  test('no file imports itself over others', () => {
    expect(findCycles(sources)).toEqual([]);
  });

  test('environment, clock and chance are asked in one place', () => {
    expect(usesOfTheWorld(product)).toEqual([]);
  });

  test('nobody is told words that have to be read twice', () => {
    expect(sources.flatMap(oldWordsIn)).toEqual([]);
  });

  test('what must exist once in a process is no state of a module', () => {
    expect(moduleState(sources)).toEqual([]);
  });
});

describe('the rules themselves', () => {
  const imports = (path: string, ...targets: string[]) =>
    brokenImports([parseSource(path, targets.map((target) => `import '${target}';`).join('\n'))]).map(
      (line) => line.split(' ')[0],
    );

  test.each([
    ['app/page.tsx', '@/db/client'],
    ['app/page.tsx', 'drizzle-orm'],
    ['app/page.tsx', '@/lib/stripe-local/world'],
    ['lib/payments/a.ts', 'postgres'],
    ['lib/payments/a.ts', 'next/headers'],
    ['lib/payments/a.ts', '../runtime'],
    ['lib/payments/a.ts', '../http/route'],
    ['lib/customers/a.ts', '../invoices/queries'],
    ['lib/sync/a.ts', '@/app/page'],
    ['lib/money.ts', './payments/queries'],
    ['lib/payments/a.ts', '@/tests/support/factories'],
    ['db/client.ts', '@/lib/env'],
    ['app/admin/_components/lists/a.ts', '../records/b'],
    ['app/admin/_components/search/a.ts', '../../search/page'],
  ])('%s may not import %s', (path, target) => {
    expect(imports(path, target)).toContain(`${path}:1`);
  });

  test.each([
    ['app/page.tsx', '@/lib/payments/queries'],
    ['lib/sync/a.ts', '../invoices/queries'],
    ['lib/payments/a.ts', '@/db/schema'],
    ['lib/cli/a.ts', '@/db/client'],
    ['lib/cli/a.ts', '../stripe-local/world'],
    ['db/seed/a.ts', '@/lib/money'],
    ['db/client.ts', 'postgres'],
    ['app/admin/_components/records/a.ts', '../lists/b'],
    ['app/admin/_components/forms/record/a.ts', '../../../customers/path'],
  ])('%s may import %s', (path, target) => {
    expect(imports(path, target)).toEqual([]);
  });

  test('exports, types and dynamic imports count', () => {
    const text = "\nexport * from './a';\ntype B = import('./b').B;\nvoid import('./c');\nrequire('./d');";
    expect(parseSource('lib/x/y.ts', text).imports).toEqual([
      { line: 2, target: 'lib/x/a' },
      { line: 3, target: 'lib/x/b' },
      { line: 4, target: 'lib/x/c' },
      { line: 5, target: 'lib/x/d' },
    ]);
  });

  test('a cycle is told with its way', () => {
    const files = { a: 'b', b: 'c', c: 'a', d: 'a' };
    const parsed = Object.entries(files).map(([from, to]) => ({
      ...parseSource(`lib/${from}.ts`, ''),
      imports: [{ line: 1, target: `lib/${to}.ts` }],
    }));
    expect(findCycles(parsed)).toEqual(['lib/a.ts -> lib/b.ts -> lib/c.ts -> lib/a.ts']);
  });

  test.each([
    'process.env.PORT',
    'Date.now()',
    'new Date()',
    'Math.random()',
    "import { randomUUID } from 'node:crypto'",
    "import { randomBytes as chance } from 'node:crypto'",
    'crypto.randomUUID()',
  ])('%s is found', (text) => {
    expect(usesOfTheWorld([parseSource('lib/x.ts', text)])).toHaveLength(1);
  });

  test.each(['let open = false;', 'const seen = new Map<string, number>();', 'export const all = [];'])(
    '%s is state',
    (text) => {
      expect(moduleState([parseSource('lib/x.ts', text)])).toHaveLength(1);
    },
  );

  test.each(["const all = new Set(['a']);", "const seen = perProcess('seen', () => new Map());"])(
    '%s is none',
    (text) => {
      expect(moduleState([parseSource('lib/x.ts', text)])).toEqual([]);
    },
  );

  test.each(['new Date(0)', "'process.env'", '// new Date()', 'now()', 'randomBytes(5)'])(
    '%s is fine',
    (text) => {
      expect(usesOfTheWorld([parseSource('lib/x.ts', text)])).toEqual([]);
    },
  );
});
