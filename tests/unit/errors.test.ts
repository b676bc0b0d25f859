import { expect, test } from 'vitest';
import * as errors from '@/lib/errors';
import { toAppError } from '@/lib/http/messages';
import { createLogger } from '@/lib/log';
import { DatabaseBusyError } from '@/lib/open-database';

/** Imports a second instance of the module, as another bundle would have. */
async function otherBundle(): Promise<typeof errors> {
  // @ts-expect-error the query makes it another module
  const other: typeof errors = await import('@/lib/errors?another-bundle');
  expect(other.AppError).not.toBe(errors.AppError);
  return other;
}

test('an AppError from another bundle is not converted to an internal error', async () => {
  const { AppError } = await otherBundle();
  const thrown = new AppError('too_many_requests', 'Try again.', [], 5);
  expect(thrown).toBeInstanceOf(errors.AppError);
  expect(toAppError(thrown, 'ref', createLogger('silent'))).toBe(thrown);
});

test('instanceof recognizes our error classes across bundles', async () => {
  const { AppError, StartError, NotMigratedError } = await otherBundle();
  const busy = new DatabaseBusyError('data', 1, undefined);
  const cases: [error: unknown, isApp: boolean, isStart: boolean, isNotMigrated: boolean, isBusy: boolean][] =
    [
      [new AppError('internal', ''), true, false, false, false],
      [new StartError(['a']), false, true, false, false],
      [new NotMigratedError(), false, true, true, false],
      [busy, false, true, false, true],
      [new Error('AppError'), false, false, false, false],
      [{ name: 'AppError', kind: 'AppError' }, false, false, false, false],
      [Object.create(null), false, false, false, false],
      [null, false, false, false, false],
      ['AppError', false, false, false, false],
    ];
  for (const [error, ...expected] of cases) {
    const classes = [errors.AppError, errors.StartError, errors.NotMigratedError, DatabaseBusyError];
    expect(classes.map((one) => error instanceof one)).toEqual(expected);
  }
});
