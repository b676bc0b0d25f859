import { perProcess } from './per-process';

const schema = perProcess('schema-doubt', () => ({ isDoubted: false }));

// A schema, table, column, function, type or enum value that a statement names and the database lacks.
const LACKING = /^(3F000|42P01|42703|42883|42704|22P02)$/;

/** Notes that a statement failed, since the database may be older than the code. */
export function noteFailure(code: string): void {
  if (LACKING.test(code)) schema.isDoubted = true;
}

/** True where a statement failed as it would in a database that is not migrated. */
export function isSchemaDoubted(): boolean {
  return schema.isDoubted;
}

/** Ends the doubt: the database was looked at. */
export function trustSchema(): void {
  schema.isDoubted = false;
}
