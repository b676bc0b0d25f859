import { getTableColumns, getTableName } from 'drizzle-orm';
import { PgTable } from 'drizzle-orm/pg-core';
import { expect, test } from 'vitest';
import * as schema from '@/db/schema';
import { TEXT_COLUMNS } from '@/lib/erasure/text-columns';

/** Columns of other kinds hold no words of anybody's. */
const TEXTUAL = /^Pg(Text|Varchar|Char|Json|Jsonb|Array)$/;

test('every column that may hold a text says what becomes of it when a customer is erased', () => {
  const columns = Object.values(schema)
    .filter((table) => table instanceof PgTable)
    .flatMap((table) =>
      Object.values(getTableColumns(table))
        .filter((column) => TEXTUAL.test(column.columnType) && !column.enumValues?.length)
        .map((column) => `${getTableName(table)}.${column.name}`),
    );
  const said = Object.entries(TEXT_COLUMNS).flatMap(([table, texts]) =>
    Object.keys(texts).map((column) => `${table}.${column}`),
  );
  // `scopes` is a list of a closed set.
  expect(columns.filter((name) => name !== 'access_tokens.scopes').sort()).toEqual(said.sort());
});
