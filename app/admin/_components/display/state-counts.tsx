import Link from 'next/link';
import { formatField, formatNumber } from '@/app/_components/format';
import type { StateCount } from '@/lib/overview/counts';
import classes from './chart.module.css';
import { statusColor } from './status-color';

interface Props {
  counts: StateCount[];
  /** The list of those in a state. */
  hrefOf(state: string): string;
}

/** How many are in each state, the bars in proportion to the most. */
export function StateCounts({ counts, hrefOf }: Props) {
  const most = Math.max(...counts.map(({ count }) => count));
  return (
    <ul className={classes.counts}>
      {counts.map(({ state, count }) => (
        <li key={state}>
          <Link href={hrefOf(state)} className={classes.count} prefetch={false}>
            <span>{formatField(state)}</span>
            <span className="figures">{formatNumber(count)}</span>
            <span className={classes.share}>
              <span
                style={{
                  width: `${(count / most) * 100}%`,
                  background: `var(--mantine-color-${statusColor(state)}-filled)`,
                }}
              />
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}
