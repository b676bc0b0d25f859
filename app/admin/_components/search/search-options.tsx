'use client';

import Link from 'next/link';
import { useEffect } from 'react';
import { StatusBadge } from '../display/status-badge';
import classes from './search.module.css';
import type { SearchAnswer, SearchEntry } from './to-entry';

interface Props {
  id: string;
  groups: SearchAnswer['groups'];
  /** Counted over all groups. */
  active: number;
  /** Belongs to a text that was typed before. */
  isStale: boolean;
  pageOfAll: string;
  text: string;
  close(): void;
}

/** The results to choose from; the last leads to all of them. */
export function SearchOptions({ id, groups, active, isStale, pageOfAll, text, close }: Props) {
  useEffect(() => {
    document.getElementById(optionId(id, active))?.scrollIntoView({ block: 'nearest' });
  }, [id, active]);
  const starts = groups.map((_, i) =>
    groups.slice(0, i).reduce((sum, { entries }) => sum + entries.length, 0),
  );
  const count = groups.reduce((sum, { entries }) => sum + entries.length, 0);
  const optionProps = (at: number) => ({
    id: optionId(id, at),
    role: 'option',
    'aria-selected': at === active,
    tabIndex: -1,
    prefetch: false,
    className: classes.option,
    onClick: close,
  });
  return (
    <div id={id} role="listbox" aria-label="Results" className={classes.options} data-stale={isStale}>
      {groups.map(({ label, more, entries }, g) => (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot stand in a listbox
        <div key={label} role="group" aria-label={label}>
          <div className={classes.group} aria-hidden>
            {label}
            {more && <span>the first {entries.length}</span>}
          </div>
          {entries.map((entry, i) => (
            <Link key={entry.href} href={entry.href} {...optionProps((starts[g] ?? 0) + i)}>
              <Option entry={entry} />
            </Link>
          ))}
        </div>
      ))}
      {count > 0 && text !== '' && (
        <Link href={pageOfAll} {...optionProps(count)}>
          <span className={classes.all}>See all results for “{text}”</span>
        </Link>
      )}
    </div>
  );
}

function Option({ entry: { title, detail, status, figure } }: { entry: SearchEntry }) {
  return (
    <>
      <span className={classes.lines}>
        <span className={classes.title}>{title}</span>
        {detail && <span className={classes.detail}>{detail}</span>}
      </span>
      <span className={classes.figure}>{figure}</span>
      {status && <StatusBadge status={status} />}
    </>
  );
}

/** The name of an option, for the field that has the focus. */
export function optionId(listId: string, at: number): string {
  return `${listId}-${at}`;
}
