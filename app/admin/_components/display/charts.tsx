import { Paper, Stack, Text } from '@mantine/core';
import { scaleBand, scaleLinear } from 'd3-scale';
import Link from 'next/link';
import type { ReactNode } from 'react';
import { formatCount, formatField, formatMoney, formatNumber } from '@/app/_components/format';
import type { StateCount } from '@/lib/overview/counts';
import type { CurrencySum } from '@/lib/overview/money';
import classes from './chart.module.css';
import { statusColor } from './status';

interface Bar {
  /** Unique in the chart. */
  name: string;
  value: number;
  /** Said on hover. */
  title: string;
}

interface BarChartProps {
  /** What the chart shows, in a sentence that stands for it. */
  label: string;
  bars: Bar[];
  /** A value as the scale at the side says it. */
  formatTick(value: number): string;
  /** Counts, between which nothing is. */
  isWhole?: boolean;
  /** Beneath the first and the last bar. */
  ends: [string, string];
}

// Units of the drawing, which is stretched to its place.
const WIDTH = 1000;
const HEIGHT = 100;
const TICKS = 4;

/** Bars from left to right, those below zero hanging, drawn on the server; each has a label, shown on hover. */
export function BarChart({ label, bars, formatTick, isWhole = false, ends }: BarChartProps) {
  const x = scaleBand(
    bars.map(({ name }) => name),
    [0, WIDTH],
  ).paddingInner(bars.length > 120 ? 0.1 : 0.25);
  const values = bars.map(({ value }) => value);
  const y = scaleLinear([Math.min(0, ...values), Math.max(1, ...values)], [HEIGHT, 0]).nice(TICKS);
  const ticks = y.ticks(TICKS).filter((tick) => !isWhole || Number.isInteger(tick));
  return (
    <div className={classes.chart}>
      <div className={classes.plot}>
        {ticks.map((tick) => (
          <div key={tick} className={classes.tick} style={{ top: `${y(tick)}%` }}>
            <span>{formatTick(tick)}</span>
          </div>
        ))}
        <svg
          className={classes.bars}
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          aria-hidden
        >
          {bars.map(({ name, value }) => (
            <rect
              key={name}
              x={x(name)}
              width={x.bandwidth()}
              y={y(Math.max(0, value))}
              height={Math.abs(y(value) - y(0))}
            />
          ))}
        </svg>
        <ol className={classes.labels} aria-label={label}>
          {bars.map(({ name, title }) => (
            <li key={name} style={{ left: `${(x(name) ?? 0) / 10}%`, width: `${x.step() / 10}%` }}>
              <span>{title}</span>
            </li>
          ))}
        </ol>
      </div>
      <div className={classes.ends}>
        <span>{ends[0]}</span>
        {ends[1] !== ends[0] && <span>{ends[1]}</span>}
      </div>
    </div>
  );
}

interface StateCountsProps {
  counts: StateCount[];
  /** The list of those in a state. */
  hrefOf(state: string): string;
}

/** How many are in each state, the bars in proportion to the most. */
export function StateCounts({ counts, hrefOf }: StateCountsProps) {
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

interface FigureProps {
  label: string;
  value?: ReactNode;
  /** A line beneath the value. */
  children?: ReactNode;
  note: ReactNode;
}

/** One figure of the overview. */
export function Figure({ label, value, children, note }: FigureProps) {
  return (
    <Paper withBorder radius="lg" p="md">
      <Stack gap={4} h="100%">
        <Text size="sm" c="dimmed" fw={500}>
          {label}
        </Text>
        {value && (
          <Text fw={600} fz="lg" className="figures">
            {value}
          </Text>
        )}
        {children && (
          <Text size="sm" component="div">
            {children}
          </Text>
        )}
        <Text size="xs" c="dimmed" mt="auto" pt={4} component="div">
          {note}
        </Text>
      </Stack>
    </Paper>
  );
}

/** The leading currency large, the others beneath. */
export function CurrencySums({ sums, noun }: { sums: CurrencySum[]; noun: string }) {
  const [first, ...others] = sums;
  if (!first) return <Text fw={600} fz="lg">{`No ${noun}s`}</Text>;
  return (
    <>
      <Text fw={600} fz="lg" className="figures">
        {formatMoney(first.total, first.currency)}
      </Text>
      <Text size="sm">{formatCount(first.count, noun)}</Text>
      {others.map((sum) => (
        <Text key={sum.currency} size="sm" c="dimmed" className="figures">
          {formatMoney(sum.total, sum.currency)} · {formatCount(sum.count, noun)}
        </Text>
      ))}
    </>
  );
}
