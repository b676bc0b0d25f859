'use client';

import { usePathname, useSearchParams } from 'next/navigation';
import { useEffect, useState } from 'react';
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

/** A form that leads to a page; others are answered where they stand. */
function isSearch(form: HTMLFormElement): boolean {
  return form.method === 'get' && form.getAttribute('action')?.startsWith('/') === true;
}

/** A plain click on a link to another page of this site. */
function isNavigation(event: MouseEvent): boolean {
  if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return false;
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  if (!link || link.target || link.hasAttribute('download') || link.origin !== location.origin) return false;
  return link.pathname + link.search !== location.pathname + location.search;
}
