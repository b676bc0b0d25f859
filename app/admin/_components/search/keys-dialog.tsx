'use client';

import { PageDialog } from './page-dialog';
import classes from './search.module.css';

const KEYS = [
  ['Ctrl K or ⌘K', 'Search, or go to a page'],
  ['/', 'Search'],
  ['↑ ↓ Enter', 'Choose a result'],
  ['Esc', 'Close what is open'],
  ['?', 'Show these keys'],
] as const;

/** The keys there are. */
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
