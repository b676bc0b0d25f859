import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { MUTANTS } from './mutants';
import { exemptPlaces } from './pure/coverage';

const ORACLE = 'tests/simulation/oracle';

/** Returns the imports of a file. Our files are paths from the root, and packages are names. */
function importsOf(file: string): string[] {
  const source = readFileSync(file, 'utf8');
  return [...source.matchAll(/from '([^']+)'/g)].map(([, target = '']) => {
    if (target.startsWith('@/')) return target.slice(2);
    return target.startsWith('.') ? normalize(join(dirname(file), target)) : target;
  });
}

test('the oracle and the tables of the simulation import no code of lib/sync or lib/stripe', () => {
  const model = ['lib/stripe-local/model', 'lib/stripe-local/model-returns'];
  const allowed = [ORACLE, 'tests/simulation/tables', ...model, 'lib/dates'];
  const files = readdirSync(ORACLE).map((name) => join(ORACLE, name));
  expect(files.length).toBeGreaterThan(5);
  const strangers = files.flatMap((file) =>
    importsOf(file)
      .filter((target) => !allowed.some((start) => target === start || target.startsWith(`${start}/`)))
      .map((target) => `${file} imports ${target}`),
  );
  expect(strangers).toEqual([]);
  const tables = importsOf('tests/simulation/tables.ts');
  expect(tables.filter((target) => /^lib\/(stripe|sync)/.test(target))).toEqual([]);
});

test('all code that is exempt from the simulation’s coverage still exists', () => {
  expect(exemptPlaces()).toBeTypeOf('function');
});

test.each(MUTANTS.flatMap(({ name, edits }) => edits.map((edit) => ({ name, ...edit }))))(
  'the mutation “$name” finds its text in $file, only once unless it replaces every occurrence',
  ({ file, find, everywhere }) => {
    const parts = readFileSync(file, 'utf8').split(find).length;
    if (everywhere) expect(parts).toBeGreaterThan(1);
    else expect(parts).toBe(2);
  },
);
