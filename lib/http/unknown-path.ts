import { AppError } from '../errors';
import { problemResponse } from './problem';

/** The 404 of a path below /api that no route has. */
export function answerUnknownPath(): Response {
  return problemResponse(new AppError('not_found', 'There is no page at this address.'));
}
