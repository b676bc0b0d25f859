import Link from 'next/link';
import type { ReactNode } from 'react';
import classes from './list.module.css';

/** A record on a narrow screen: two lines, two corners. */
export interface Entry {
  title: ReactNode;
  detail?: ReactNode;
  figure?: ReactNode;
  state?: ReactNode;
}

/** One entry, with a link to the page of its record, if it has one. */
export function NarrowEntry({ entry, href }: { entry: Entry; href: string | undefined }) {
  const { title, detail, figure, state } = entry;
  const content = (
    <>
      <span className={classes.lines}>
        <span className={classes.entryTitle}>{title}</span>
        {detail && <span className={classes.detail}>{detail}</span>}
      </span>
      <span className={classes.corners}>
        {figure && <span className={classes.figure}>{figure}</span>}
        {state}
      </span>
    </>
  );
  if (href === undefined) return <div className={classes.card}>{content}</div>;
  return (
    <Link href={href} className={classes.card} prefetch={false}>
      {content}
    </Link>
  );
}
