import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';

const HERE = 'tests/simulation/oracle';

/** What a file imports, as a path from the root; packages as they are named. */
function importsOf(file: string): string[] {
  const source = readFileSync(file, 'utf8');
  return [...source.matchAll(/from '([^']+)'/g)].map(([, target = '']) => {
    if (target.startsWith('@/')) return target.slice(2);
    return target.startsWith('.') ? normalize(join(dirname(file), target)) : target;
  });
}

test('the oracle knows neither the mappers nor sync, nor anything that does', () => {
  const model = ['lib/stripe-local/model', 'lib/stripe-local/model-returns'];
  const allowed = [HERE, 'tests/simulation/tables', ...model, 'lib/dates'];
  const files = readdirSync(HERE).map((name) => join(HERE, name));
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
