import { AppError } from '@/lib/errors';

/**
 * Returns the fields that a refused write names, or its error code if it names no field. Returns an empty list if the
 * write succeeds. Other errors than `AppError` are thrown.
 */
export async function problemsOf(writing: Promise<unknown>): Promise<string[]> {
  try {
    await writing;
    return [];
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return error.fields.length > 0 ? error.fields.map(({ field }) => field) : [error.code];
  }
}
