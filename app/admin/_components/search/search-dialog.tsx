'use client';

import { IconSearch } from '@tabler/icons-react';
import dynamic from 'next/dynamic';
import { type ReactNode, useEffect, useRef, useSyncExternalStore } from 'react';
import { Link } from '@/app/_components/links';
import classes from './search.module.css';

/** The content of the search dialog. Every staff page contains the dialog, but loads its content only when it opens. */
const SearchBox = dynamic(() => import('./search-box').then((part) => part.SearchBox));

interface SearchDialogProps {
  isAdmin: boolean;
  opened: boolean;
  close(): void;
}

/** Shows the search in a dialog. The search is empty each time the dialog opens. */
export function SearchDialog({ isAdmin, opened, close }: SearchDialogProps) {
  return (
    <PageDialog label="Search" opened={opened} close={close}>
      {opened && <SearchBox isAdmin={isAdmin} close={close} />}
    </PageDialog>
  );
}

const KEYS = [
  ['Ctrl K or ⌘K', 'Search, or go to a page'],
  ['/', 'Search'],
  ['↑ ↓ Enter', 'Choose a result'],
  ['Esc', 'Close the dialog or menu'],
  ['?', 'Show these shortcuts'],
] as const;

/** Shows the dialog that lists the keyboard shortcuts. */
export function KeysDialog({ opened, close }: { opened: boolean; close(): void }) {
  return (
    <PageDialog label="Keyboard shortcuts" opened={opened} close={close}>
      <dl className={classes.keys}>
        {KEYS.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              <kbd className={classes.key}>{keys}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </PageDialog>
  );
}

interface PageDialogProps {
  label: string;
  opened: boolean;
  close(): void;
  children: ReactNode;
}

/** Shows a dialog. The browser keeps the focus inside, restores it afterwards, and closes the dialog on Escape. */
function PageDialog({ label, opened, close, children }: PageDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (opened) dialog.current?.showModal();
    else dialog.current?.close();
  }, [opened]);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes the dialog by keyboard
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

/** Shows the control that opens the search. It is a link, so without JavaScript it leads to the search page. */
export function SearchTrigger({ open, compact = false }: { open(): void; compact?: boolean }) {
  const isApple = useSyncExternalStore(
    () => () => {},
    () => /Mac|iP(hone|ad|od)/.test(navigator.platform),
    () => false,
  );
  return (
    <Link
      href="/admin/search"
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

/** Binds the shortcuts: ⌘K or Ctrl-K calls `search`. Outside of fields, / calls `search` and ? calls `listKeys`. */
export function useSearchKey(search: () => void, listKeys: () => void): void {
  useEffect(() => {
    function press(event: KeyboardEvent) {
      const action = actionOf(event);
      if (action === null) return;
      event.preventDefault();
      if (action === 'search') search();
      else listKeys();
    }
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, [search, listKeys]);
}

function actionOf({
  key,
  metaKey,
  ctrlKey,
  altKey,
  shiftKey,
  target,
}: KeyboardEvent): 'search' | 'keys' | null {
  if (altKey) return null;
  if (metaKey || ctrlKey) return key.toLowerCase() === 'k' && !shiftKey ? 'search' : null;
  if (target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable]'))
    return null;
  return { '/': 'search' as const, '?': 'keys' as const }[key] ?? null;
}
