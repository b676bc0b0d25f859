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
