import { describe, expect, test } from 'vitest';
import { brokenImports, findCycles, homeless, publicFiles } from './architecture/layers';
import { clientValuesOnTheServer, moduleState, usesOfTheWorld } from './architecture/source-rules';
import { parseSource, readSources } from './architecture/sources';

describe('architecture rules', () => {
  const sources = readSources(['app', 'lib', 'db', 'proxy.ts', 'instrumentation.ts']);
  const product = sources.filter(({ path }) => !path.startsWith('db/'));

  test('every source file belongs to an architecture layer, and every staff page component to a component folder', () => {
    expect(product.length).toBeGreaterThan(50);
    expect(homeless(sources)).toEqual([]);
  });

  test('source imports break no architecture rule', () => {
    expect(brokenImports(sources)).toEqual([]);
  });

  test('source files have no import cycles', () => {
    expect(findCycles(sources)).toEqual([]);
  });

  test('public-files.txt lists every file in a folder of lib that is imported from outside its folder', async () => {
    await expect(publicFiles(sources)).toMatchFileSnapshot('architecture/public-files.txt');
  });

  test('outside db, only dedicated files read the environment, the clock or randomness', () => {
    expect(usesOfTheWorld(product)).toEqual([]);
  });

  test('server files import only components, hooks and types from client files', () => {
    expect(clientValuesOnTheServer(sources)).toEqual([]);
  });

  test('source modules that several bundles may contain declare no state at the top level, apart from caches', () => {
    expect(moduleState(sources)).toEqual([]);
  });
});

describe('tests of the architecture rules', () => {
  const imports = (path: string, target: string) => brokenImports([parseSource(path, `import '${target}';`)]);

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
    ['lib/payments/a.ts', '@/proxy'],
    ['proxy.ts', '@/db/client'],
    ['instrumentation.ts', 'drizzle-orm'],
    ['db/client.ts', '@/lib/env'],
    ['app/admin/_components/lists/a.ts', '../records/b'],
    ['app/admin/_components/search/a.ts', '../../search/page'],
    ['app/admin/_components/forms/record/a.ts', '../../../customers/list'],
  ])('the import rules forbid %s to import %s', (path, target) => {
    expect(imports(path, target)[0]).toMatch(`${path}:1 imports `);
  });

  test.each([
    ['app/page.tsx', '@/lib/payments/queries'],
    ['proxy.ts', '@/db/per-process'],
    ['lib/sync/a.ts', '../invoices/queries'],
    ['lib/payments/a.ts', '@/db/schema'],
    ['lib/cli/a.ts', '@/db/client'],
    ['lib/cli/a.ts', '../stripe-local/world'],
    ['db/seed/a.ts', '@/lib/money'],
    ['db/client.ts', 'postgres'],
    ['app/admin/_components/records/a.ts', '../lists/b'],
  ])('the import rules allow %s to import %s', (path, target) => {
    expect(imports(path, target)).toEqual([]);
  });

  test('the import scanner recognizes re-exports, type imports, dynamic imports and require calls', () => {
    const text = "\nexport * from './a';\ntype B = import('./b').B;\nvoid import('./c');\nrequire('./d');";
    const found = parseSource('lib/x/y.ts', text).imports.map(({ line, target }) => `${line} ${target}`);
    expect(found).toEqual(['2 lib/x/a', '3 lib/x/b', '4 lib/x/c', '5 lib/x/d']);
  });

  test('an import cycle is reported once, as the chain of its files', () => {
    const parsed = Object.entries({ a: 'b', b: 'c', c: 'a', d: 'a' }).map(([from, to]) => ({
      ...parseSource(`lib/${from}.ts`, ''),
      imports: [{ line: 1, target: `lib/${to}.ts` }],
    }));
    expect(findCycles(parsed)).toEqual(['lib/a.ts -> lib/b.ts -> lib/c.ts -> lib/a.ts']);
  });

  test.each([
    ['process.env.PORT', 1],
    ["process['env'].PORT", 1],
    ["process['pid']", 0],
    ['Date.now()', 1],
    ['new Date()', 1],
    ['Math.random()', 1],
    ["import { randomUUID } from 'node:crypto'", 1],
    ["import { randomBytes as chance } from 'node:crypto'", 1],
    ['crypto.randomUUID()', 1],
    ['crypto.getRandomValues(bytes)', 1],
    ['new Date(0)', 0],
    ["'process.env'", 0],
    ['// new Date()', 0],
    ['now()', 0],
    ['randomBytes(5)', 0],
  ])(
    'the source text “%s” is reported %d times for using the clock, randomness or environment',
    (text, asks) => {
      expect(usesOfTheWorld([parseSource('lib/x.ts', text)])).toHaveLength(asks);
    },
  );

  test.each([
    ['proxy.ts', "import { randomBytes } from 'node:crypto'", 0],
    ['proxy.ts', 'Math.random()', 1],
    ['instrumentation.ts', 'process.env.NEXT_RUNTIME', 0],
    ['instrumentation.ts', 'process.env.PORT', 1],
  ])('in %s, the source text “%s” is reported %d times', (path, text, asks) => {
    expect(usesOfTheWorld([parseSource(path, text)])).toHaveLength(asks);
  });

  test.each([
    ['let open = false;', 1],
    ['const seen = new Map<string, number>();', 1],
    ['export const all = [];', 1],
    ["const all = new Set(['a']);", 0],
    ["const seen = perProcess('seen', () => new Map());", 0],
  ])('the source text “%s” declares %d pieces of module state', (text, states) => {
    expect(moduleState([parseSource('lib/x.ts', text)])).toHaveLength(states);
  });

  test.each([
    ['firstLine', 1],
    ['NEW_LINE', 1],
    ['LineEditor, useLines, type Line', 0],
  ])('importing { %s } from a client file into a server file breaks %d rules', (names, broken) => {
    const client = parseSource('app/admin/lines.tsx', "'use client';\nexport const a = 1;");
    const server = parseSource('app/admin/page.tsx', `import { ${names} } from './lines';`);
    const imports = [{ line: 1, target: client.path }];
    expect(clientValuesOnTheServer([client, { ...server, imports }])).toHaveLength(broken);
  });
});
