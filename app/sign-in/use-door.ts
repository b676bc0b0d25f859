import { type FormEvent, useState } from 'react';
import { type Answer, sendToDoor } from './send-to-door';

export type Door = ReturnType<typeof useDoor>;

/**
 * A form that a door answers: it says what is wrong, or leads on.
 *
 * @param earlier what came of a form that was sent without scripts
 */
export function useDoor(path: string, earlier: string | null) {
  const [problem, setProblem] = useState(earlier);
  const [isPending, setPending] = useState(false);
  const go = async (ask: () => Promise<Answer<{ next: string }>>) => {
    setPending(true);
    setProblem(null);
    const answer = await ask();
    if ('next' in answer) return window.location.assign(answer.next);
    setProblem(answer.problem);
    setPending(false);
  };
  return {
    problem,
    isPending,
    /** Asks something else than what was typed. */
    go,
    form: {
      action: `/api/auth/sign-in/${path}`,
      method: 'post' as const,
      onSubmit(event: FormEvent<HTMLFormElement>) {
        event.preventDefault();
        const typed = Object.fromEntries(new FormData(event.currentTarget));
        go(() => sendToDoor<{ next: string }>(path, typed));
      },
    },
  };
}
