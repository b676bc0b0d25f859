import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { rows } from '@/db/database';
import { inJoinedTexts, inTexts } from '@/db/in-texts';
import { useDatabase } from '../support/database';

const base = useDatabase();
const STORED = ["O'Brien", '"quoted", {and} \\ more', 'Zoë\n', '', '\u{1f600}'];

test.each([
  ['one parameter', inTexts],
  ['a join', inJoinedTexts],
])('a column is one of many texts, by %s', async (_, among) => {
  const find = async (texts: string[]) => {
    const found = await rows<{ text: string }>(
      base.db,
      sql`select stored.text from jsonb_array_elements_text(${JSON.stringify(STORED)}::jsonb) stored (text)
        where ${among(sql`stored.text`, texts)}`,
    );
    return found.map(({ text }) => text);
  };
  expect(await find([...STORED, ...STORED])).toEqual(STORED);
  expect(await find([])).toEqual([]);
  // What no column can hold finds nothing, and keeps nothing else from being found.
  expect(await find(['a\0b', '\ud83d', 'Zoë\n'])).toEqual(['Zoë\n']);
});

test('what is made of each text is compared', async () => {
  const isFound = inTexts(sql`lower('K1')`, ['x', 'k1'], (text) => sql`lower(${text})`);
  expect(await rows(base.db, sql`select ${isFound} as found`)).toEqual([{ found: true }]);
});
