'use client';

import { type RefObject, useEffect } from 'react';

/** Closes the open `details` elements inside `frame` when a person presses Escape, or clicks outside of them. */
export function useOpenDetails(frame: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const close = (except: EventTarget | null) => {
      for (const one of frame.current?.querySelectorAll('details[open]') ?? []) {
        if (!(except instanceof Node && one.contains(except))) one.removeAttribute('open');
      }
    };
    const press = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return;
      frame.current?.querySelector<HTMLElement>('details[open] > summary')?.focus();
      close(null);
    };
    const point = (event: PointerEvent) => close(event.target);
    document.addEventListener('keydown', press);
    document.addEventListener('pointerdown', point);
    return () => {
      document.removeEventListener('keydown', press);
      document.removeEventListener('pointerdown', point);
    };
  }, [frame]);
}
