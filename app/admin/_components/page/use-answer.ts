'use client';

import { useEffect, useState } from 'react';

export interface Answered<Answer> {
  /** The text that the request contained. */
  text: string;
  /** The route's answer. Null if the request failed, for the reason in `state`. */
  answer: Answer | null;
  state: 'found' | 'signed-out' | 'failed';
}

const PAUSE_MS = 150;

/**
 * Returns a route's answer for the typed text. The request is debounced. Until its answer arrives, the hook returns the
 * previous answer. An empty text sends no request and returns null.
 *
 * @param path path of the route, which receives the text as the parameter `q`
 * @param nothing answer to return if the route refuses the text as invalid
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
