import { expect, test } from 'vitest';
import { SeenKeys } from '@/lib/imports/seen-keys';

test('keys are known by the line that had them first', () => {
  const seen = new SeenKeys();
  for (let line = 1; line <= 5000; line += 1) expect(seen.note(`key ${line}`, line)).toBeUndefined();
  for (let line = 1; line <= 5000; line += 1) expect(seen.note(`key ${line}`, 9999)).toBe(line);
  expect(seen.has('key 4711')).toBe(true);
  expect(seen.has('key 0')).toBe(false);
});
