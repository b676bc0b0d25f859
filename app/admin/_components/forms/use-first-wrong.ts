'use client';

import { type RefObject, useEffect, useRef } from 'react';

/** A form's reference: after each answer the first field that it calls wrong takes the focus. */
export function useFirstWrong(answer: unknown): RefObject<HTMLFormElement | null> {
  const form = useRef<HTMLFormElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: after each answer
  useEffect(() => form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus(), [answer]);
  return form;
}
