import { AppError } from '../errors';

/** Whoever wants to write a record saw another version of it. */
export function outdated(): AppError {
  return new AppError('precondition_failed', 'Somebody else has changed this since you opened it.');
}
