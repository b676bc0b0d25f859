'use client';

import { useEffect, useState } from 'react';

export interface Answered<Answer> {
  /** What was asked. */
  text: string;
  /** Null if there is no answer; the state says why. */
  answer: Answer | null;
  state: 'found' | 'signed-out' | 'failed';
}

const PAUSE_MS = 150;

/**
 * A route's answer to a typed text, asked for once typing pauses; until then, the one before. An empty text is not
 * asked.
 *
 * @param path of the route, which takes the text as `q`
 * @param nothing the answer to a text that cannot be searched for
 */
export function useAnswer<Answer>(path: string, text: string, nothing: Answer): Answered<Answer> | null {
  const [answered, setAnswered] = useState<Answered<Answer> | null>(null);
  useEffect(() => {
    if (text === '') {
      setAnswered(null);
      return;
    }
    const stale = new AbortController();
    const timer = setTimeout(() => {
      ask(path, text, nothing, stale.signal).then((found) => {
        if (!stale.signal.aborted) setAnswered(found);
      });
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      stale.abort();
    };
  }, [path, text, nothing]);
  return answered;
}

async function ask<Answer>(
  path: string,
  text: string,
  nothing: Answer,
  signal: AbortSignal,
): Promise<Answered<Answer>> {
  try {
    const response = await fetch(`${path}?${new URLSearchParams({ q: text })}`, {
      headers: { accept: 'application/json' },
      signal,
    });
    if (response.status === 401) return { text, answer: null, state: 'signed-out' };
    if (response.status === 422) return { text, answer: nothing, state: 'found' };
    if (!response.ok) return { text, answer: null, state: 'failed' };
    return { text, answer: await response.json(), state: 'found' };
  } catch {
    return { text, answer: null, state: 'failed' };
  }
}
