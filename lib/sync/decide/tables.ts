import { type KeyOf, keyOf, type StoredRows, TABLE_NAMES, type TableName } from '../store/rows';
import type { Rows } from '../store/snapshot';
import { Table } from './table';

export type Tables = { readonly [Name in TableName]: Table<KeyOf<Name>, StoredRows[Name]> };

export const AllTables = class {
  constructor(rows: Rows) {
    for (const name of TABLE_NAMES) Object.assign(this, { [name]: toTable(rows, name) });
  }
} as new (
  rows: Rows,
) => Tables;

const toTable = <Name extends TableName>(rows: Rows, name: Name) =>
  new Table<KeyOf<Name>, StoredRows[Name]>(rows[name], keyOf(name));
