'use client';

import { type ReactNode, useEffect, useRef } from 'react';
import classes from './search.module.css';

interface Props {
  label: string;
  opened: boolean;
  close(): void;
  children: ReactNode;
}

/** A dialog over the page. The browser keeps the focus inside, gives it back, and closes by Escape. */
export function PageDialog({ label, opened, close, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (opened) dialog.current?.showModal();
    else dialog.current?.close();
  }, [opened]);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape does what a click beside the dialog does
    <dialog
      ref={dialog}
      className={classes.dialog}
      aria-label={label}
      onClose={close}
      onClick={(event) => event.target === dialog.current && close()}
    >
      {children}
    </dialog>
  );
}
