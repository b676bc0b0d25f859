'use client';

import { type FormEvent, useEffect, useState } from 'react';

const PREFIX = 'w5t.typed ';

/**
 * Keeps the submitted values of a form until its action answers, so that an expired session or an error page does not
 * lose them. The form restores them when it is opened again in the same tab.
 *
 * @param name name of the form, unique on its page, with the version of its record if only that version may show them
 * @param answer result of the form's last action, which contains the typed values; null before the first submission
 * @returns the kept values or null, and the submit handler that keeps the values
 */
export function useKeptTyping(name: string, answer: unknown) {
  const [kept, setKept] = useState<Record<string, string> | null>(null);
  useEffect(() => {
    // Do not restore values after an action redirected here. If the action saved them, `RecordNotice` deletes the copy.
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

/** Deletes the kept values of all forms in this tab. Called after values were saved and when the person signs out. */
export function forgetTyping(): void {
  for (const key of Object.keys(sessionStorage)) {
    if (key.startsWith(PREFIX)) sessionStorage.removeItem(key);
  }
}

/** Returns the storage key of a form. The key contains the page's URL without its `notice` parameter. */
function keyOf(name: string): string {
  const { pathname, search } = window.location;
  const query = new URLSearchParams(search);
  query.delete('notice');
  return `${PREFIX}${pathname}?${query} ${name}`;
}
