import { currentStaff } from '@/lib/auth/staff-session';
import { AppError } from '@/lib/errors';
import { problemResponse, toAppError } from '@/lib/http/messages';
import { explainFailure, type Runtime, runtimeOrError } from '@/lib/runtime';

/** Responds to a staff page's request during typing. @param answer computes the JSON response for the typed text */
export async function answerStaff(
  request: Request,
  answer: (runtime: Runtime, text: string) => Promise<unknown>,
): Promise<Response> {
  const runtime = await runtimeOrError();
  if (runtime instanceof AppError) return problemResponse(runtime);
  try {
    if (!(await currentStaff())) throw new AppError('unauthenticated', 'Nobody is signed in.');
    const answered = await answer(runtime, new URL(request.url).searchParams.get('q') ?? '');
    return Response.json(answered, { headers: { 'Cache-Control': 'no-store' } });
  } catch (error) {
    return problemResponse(toAppError(await explainFailure(runtime, error), runtime.newId(), runtime.log));
  }
}
