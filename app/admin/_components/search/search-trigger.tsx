'use client';

import { IconSearch } from '@tabler/icons-react';
import Link from 'next/link';
import { useSyncExternalStore } from 'react';
import classes from './search.module.css';

/** Opens the search. A link, since without scripts there is a page for it. */
export function SearchTrigger({ open, compact = false }: { open(): void; compact?: boolean }) {
  const isApple = useSyncExternalStore(
    () => () => {},
    () => /Mac|iP(hone|ad|od)/.test(navigator.platform),
    () => false,
  );
  return (
    <Link
      href="/admin/search"
      prefetch={false}
      className={compact ? classes.compact : classes.trigger}
      {...(compact && { 'aria-label': 'Search' })}
      aria-haspopup="dialog"
      aria-keyshortcuts="Control+K Meta+K"
      onClick={(event) => {
        event.preventDefault();
        open();
      }}
    >
      <IconSearch size={compact ? 20 : 16} stroke={1.8} aria-hidden />
      {!compact && (
        <>
          <span className={classes.placeholder}>Search</span>
          <kbd className={classes.key}>{isApple ? '⌘K' : 'Ctrl K'}</kbd>
        </>
      )}
    </Link>
  );
}
