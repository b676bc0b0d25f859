'use client';

import { type RefObject, useEffect, useRef } from 'react';

/** A form's reference: after each answer the first field that it calls wrong takes the focus. */
export function useFirstWrong(answer: unknown): RefObject<HTMLFormElement | null> {
  const form = useRef<HTMLFormElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: after each answer
  useEffect(() => {
    // Mantine marks what stands around the field of a password, which takes no focus.
    const wrong = '[aria-invalid="true"]:not(div), [aria-invalid="true"] input';
    form.current?.querySelector<HTMLElement>(wrong)?.focus();
  }, [answer]);
  return form;
}
