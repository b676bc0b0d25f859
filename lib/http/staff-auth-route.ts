import { handleStaffAuth } from '../auth/staff-auth';
import { AppError } from '../errors';
import { explainFailure, runtimeOrError } from '../runtime';
import { problemResponse, toAppError } from './problem';
import { readBody } from './read-body';

/** What a sign-in needs, and some. */
const MAX_AUTH_BODY_BYTES = 16_384;

/** better-auth's own HTTP door, with a limit to what it is given to read. */
export async function answerStaffAuth(request: Request): Promise<Response> {
  const runtime = await runtimeOrError();
  if (runtime instanceof AppError) return problemResponse(runtime);
  try {
    const body = await readBody(request, MAX_AUTH_BODY_BYTES);
    const { url, method, headers } = request;
    const bounded = new Request(url, {
      method,
      headers,
      ...(method === 'POST' && { body: Buffer.from(body) }),
    });
    return await handleStaffAuth(runtime, bounded);
  } catch (error) {
    return problemResponse(toAppError(await explainFailure(runtime, error), runtime.newId(), runtime.log));
  }
}
