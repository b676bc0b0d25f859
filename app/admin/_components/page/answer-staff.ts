import { currentStaff } from '@/lib/auth/staff-session';
import { AppError } from '@/lib/errors';
import { answerWith } from '@/lib/http/messages';
import type { Runtime } from '@/lib/runtime';

/** Responds to a staff page's request during typing. @param answer computes the JSON response for the typed text */
export function answerStaff(
  request: Request,
  answer: (runtime: Runtime, text: string) => Promise<unknown>,
): Promise<Response> {
  return answerWith(async (runtime) => {
    if (!(await currentStaff())) throw new AppError('unauthenticated', 'Nobody is signed in.');
    const answered = await answer(runtime, new URL(request.url).searchParams.get('q') ?? '');
    return Response.json(answered, { headers: { 'Cache-Control': 'no-store' } });
  });
}
