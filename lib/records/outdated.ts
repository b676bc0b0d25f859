import { AppError } from '../errors';

/** The record has changed since the writer read it. */
export function outdated(): AppError {
  return new AppError('precondition_failed', 'Somebody else has changed this since you opened it.');
}
