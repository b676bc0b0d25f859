'use client';

import { useEffect, useRef } from 'react';
import classes from './search.module.css';
import { SearchBox } from './search-box';

interface Props {
  opened: boolean;
  close(): void;
}

/** The search over the page. */
export function SearchDialog({ opened, close }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (opened) dialog.current?.showModal();
    else dialog.current?.close();
  }, [opened]);
  return (
    // The browser keeps the focus inside, gives it back, and closes by Escape.
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape does what a click beside the dialog does
    <dialog
      ref={dialog}
      className={classes.dialog}
      aria-label="Search"
      onClose={close}
      onClick={(event) => event.target === dialog.current && close()}
    >
      {opened && <SearchBox close={close} />}
    </dialog>
  );
}
