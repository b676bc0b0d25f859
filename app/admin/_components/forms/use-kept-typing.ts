'use client';

import { type FormEvent, useEffect, useState } from 'react';

const PREFIX = 'w5t.typed ';

/**
 * Keeps what was typed into a form until it is known to be saved, so that an expired session or an error page loses
 * nothing: the form finds it when it is opened again in the same tab.
 *
 * @param name of the form, among those of its page
 * @param answer the last answer to the form, which holds what was typed; null if it was not answered yet
 * @returns what was kept, or null; and the handler that keeps what is sent
 */
export function useKeptTyping(name: string, answer: unknown) {
  const [kept, setKept] = useState<Record<string, string> | null>(null);
  useEffect(() => {
    // Saved meanwhile: the page that says so clears it.
    if (new URLSearchParams(window.location.search).has('notice')) return;
    const found = sessionStorage.getItem(keyOf(name));
    if (found) setKept(JSON.parse(found));
    sessionStorage.removeItem(keyOf(name));
  }, [name]);

  useEffect(() => {
    if (answer !== null) sessionStorage.removeItem(keyOf(name));
  }, [name, answer]);

  const keep = ({ currentTarget }: FormEvent<HTMLFormElement>) => {
    const fields = [...new FormData(currentTarget)].filter(([field]) => !field.startsWith('$'));
    sessionStorage.setItem(keyOf(name), JSON.stringify(Object.fromEntries(fields)));
  };
  return { kept: answer === null ? kept : null, keep };
}

/** Forgets everything typed into the forms of this tab, since it is saved or its author signs out. */
export function forgetTyping(): void {
  for (const key of Object.keys(sessionStorage)) {
    if (key.startsWith(PREFIX)) sessionStorage.removeItem(key);
  }
}

/** The key of a form: the same for the same address, with or without a notice. */
function keyOf(name: string): string {
  const { pathname, search } = window.location;
  const query = new URLSearchParams(search);
  query.delete('notice');
  return `${PREFIX}${pathname}?${query} ${name}`;
}
