import type { Route } from '../../http/request';
import type { Handler } from '../listener';
import { findHandler } from './find-handler';
import { IncomingRequest } from './incoming-request';
import { sendResponse } from './send-response';

/** Answers the paths of a table with their handlers, and hands on all others. */
export function fastFirst(routes: Record<string, Route>, next: Handler): Handler {
  return async (request, response) => {
    const found = findHandler(routes, request);
    if (!found) return next(request, response);
    const context = { params: Promise.resolve(found.params) };
    const answer = await found.handler(new IncomingRequest(request, response), context);
    await sendResponse(request, answer, response);
  };
}
