import { type FormEvent, useState } from 'react';

export type Door = ReturnType<typeof useDoor>;

/**
 * A form that a door answers: it says what is wrong, or leads on.
 *
 * @param earlier the answer to a form that was sent without scripts
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

/** What a door of the sign-in answers a script: a problem's sentence, or what it says. */
export type Answer<T> = T | { problem: string };

export async function sendToDoor<T>(path: string, given: object): Promise<Answer<T>> {
  try {
    const answer = await fetch(`/api/auth/sign-in/${path}`, {
      method: 'POST',
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      body: JSON.stringify(given),
    });
    const said: T & { detail: string } = await answer.json();
    return answer.ok ? said : { problem: said.detail };
  } catch {
    return { problem: 'The server does not answer. Try again in a moment.' };
  }
}
