'use client';

import { usePathname, useSearchParams } from 'next/navigation';
import { useEffect, useState } from 'react';
import { isNavigation, isSearch } from '../page/unsaved-forms';
import classes from './shell.module.css';

/** Longer than any page takes; what was clicked may have been a download. */
const PATIENCE_MS = 8000;

/** A bar at the top from the click on a link until its page is there. */
export function NavigationProgress() {
  const here = `${usePathname()}?${useSearchParams()}`;
  const [left, setLeft] = useState<string>();
  useEffect(() => {
    const onClick = (event: MouseEvent) => {
      if (isNavigation(event)) setLeft(here);
    };
    const onSubmit = ({ target }: SubmitEvent) => {
      if (target instanceof HTMLFormElement && isSearch(target)) setLeft(here);
    };
    document.addEventListener('click', onClick, { capture: true });
    document.addEventListener('submit', onSubmit, { capture: true });
    return () => {
      document.removeEventListener('click', onClick, { capture: true });
      document.removeEventListener('submit', onSubmit, { capture: true });
    };
  }, [here]);
  useEffect(() => {
    if (left === undefined) return;
    const patience = setTimeout(() => setLeft(undefined), PATIENCE_MS);
    return () => clearTimeout(patience);
  }, [left]);
  return left === here ? <div className={classes.progress} aria-hidden /> : null;
}
