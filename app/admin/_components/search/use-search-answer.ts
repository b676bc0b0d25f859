'use client';

import { useEffect, useState } from 'react';
import type { SearchAnswer } from './to-entry';

export interface Searched {
  /** What was asked. */
  text: string;
  /** Null where there is no answer: why, the state says. */
  answer: SearchAnswer | null;
  state: 'found' | 'signed-out' | 'failed';
}

const PAUSE_MS = 150;

/** The answer to a text once nobody types for a moment; until then, the one before. */
export function useSearchAnswer(text: string): Searched | null {
  const [searched, setSearched] = useState<Searched | null>(null);
  useEffect(() => {
    if (text === '') {
      setSearched(null);
      return;
    }
    const stale = new AbortController();
    const timer = setTimeout(() => {
      ask(text, stale.signal).then((found) => {
        if (!stale.signal.aborted) setSearched(found);
      });
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      stale.abort();
    };
  }, [text]);
  return searched;
}

async function ask(text: string, signal: AbortSignal): Promise<Searched> {
  try {
    const response = await fetch(`/admin/search/results?${new URLSearchParams({ q: text })}`, {
      headers: { accept: 'application/json' },
      signal,
    });
    if (response.status === 401) return { text, answer: null, state: 'signed-out' };
    if (response.status === 422) return { text, answer: { groups: [] }, state: 'found' };
    if (!response.ok) return { text, answer: null, state: 'failed' };
    return { text, answer: await response.json(), state: 'found' };
  } catch {
    return { text, answer: null, state: 'failed' };
  }
}
