'use client';

import { useEffect } from 'react';

/** ⌘K (or Ctrl-K) and, outside of fields, / open the search. Outside of fields, ? lists the keys. */
export function useSearchKey(search: () => void, listKeys: () => void): void {
  useEffect(() => {
    function press(event: KeyboardEvent) {
      const action = actionOf(event);
      if (action === null) return;
      event.preventDefault();
      if (action === 'search') search();
      else listKeys();
    }
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, [search, listKeys]);
}

function actionOf({
  key,
  metaKey,
  ctrlKey,
  altKey,
  shiftKey,
  target,
}: KeyboardEvent): 'search' | 'keys' | null {
  if (altKey) return null;
  if (metaKey || ctrlKey) return key.toLowerCase() === 'k' && !shiftKey ? 'search' : null;
  if (target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable]'))
    return null;
  return { '/': 'search' as const, '?': 'keys' as const }[key] ?? null;
}
