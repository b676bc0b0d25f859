import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { MUTANTS } from './mutants';

test.each(MUTANTS.flatMap(({ name, edits }) => edits.map((edit) => ({ name, ...edit }))))(
  'the mutant $name finds its place in $file',
  ({ file, find, everywhere }) => {
    const parts = readFileSync(file, 'utf8').split(find).length;
    if (everywhere) expect(parts).toBeGreaterThan(1);
    else expect(parts).toBe(2);
  },
);
