import type { z } from 'zod';
import { currentStaff } from '@/lib/auth/staff-session';
import { AppError, invalidField } from '@/lib/errors';
import { answerWith, methodNotAllowed } from '@/lib/http/messages';
import type { Runtime } from '@/lib/runtime';

/** Creates a route that pages request while a person types. @param answer returns the JSON body for the typed text */
export function typingRoute(
  schema: z.ZodType<string>,
  answer: (text: string, runtime: Runtime) => Promise<unknown>,
) {
  const respond = (request: Request): Promise<Response> =>
    answerWith(async (runtime) => {
      if (!(await currentStaff())) throw new AppError('unauthenticated', 'Nobody is signed in.');
      const parsed = schema.safeParse(new URL(request.url).searchParams.get('q') ?? '');
      if (!parsed.success) throw invalidField('q', parsed.error.issues[0]?.message ?? 'is no search');
      const answered = await answer(parsed.data, runtime);
      return Response.json(answered, { headers: { 'Cache-Control': 'no-store' } });
    });
  return { ...methodNotAllowed('GET, HEAD, OPTIONS'), GET: respond };
}
