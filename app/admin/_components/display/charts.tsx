import { Paper, Stack, Text } from '@mantine/core';
import { scaleBand, scaleLinear } from 'd3-scale';
import type { ReactNode } from 'react';
import { formatCount, formatField, formatMoney, formatNumber } from '@/app/_components/format';
import { Link } from '@/app/_components/links';
import type { StateCount } from '@/lib/overview/counts';
import type { CurrencySum } from '@/lib/overview/money';
import classes from './chart.module.css';
import { BigFigure, Dimmed, statusColor } from './values';

interface Bar {
  /** Name that identifies the bar within the chart. */
  name: string;
  value: number;
  /** Text shown on hover. */
  title: string;
}

interface BarChartProps {
  /** Sentence that describes the chart to screen readers. */
  label: string;
  bars: Bar[];
  /** Formats a value for the scale at the side. */
  formatTick(value: number): string;
  /** Whether the values are counts. The scale then shows only whole numbers. */
  isWhole?: boolean;
  /** Labels below the first and the last bar. */
  ends: [string, string];
}

// WIDTH and HEIGHT are in units of the SVG's view box, which the browser stretches to the available space.
const WIDTH = 1000;
const HEIGHT = 100;
const TICKS = 4;

/** Shows a bar chart that needs no JavaScript. Negative bars extend below zero. */
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
  /** Returns the URL of the list filtered by a state. */
  hrefOf(state: string): string;
}

/** Lists counts by state. Each count links to the filtered list and has a bar in proportion to the largest count. */
export function StateCounts({ counts, hrefOf }: StateCountsProps) {
  const most = Math.max(...counts.map(({ count }) => count));
  return (
    <ul className={classes.counts}>
      {counts.map(({ state, count }) => (
        <li key={state}>
          <Link href={hrefOf(state)} className={classes.count}>
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
  /** A line below the value. */
  children?: ReactNode;
  note: ReactNode;
}

/** Shows a figure of the overview page, with a label, a value, and a note at the bottom. */
export function Figure({ label, value, children, note }: FigureProps) {
  return (
    <Paper withBorder radius="lg" p="md">
      <Stack gap={4} h="100%">
        <Dimmed fw={500}>{label}</Dimmed>
        {value && <BigFigure>{value}</BigFigure>}
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

/** Shows the sum and the count of each currency. The first sum is in large type, and the others are below it. */
export function CurrencySums({ sums, noun }: { sums: CurrencySum[]; noun: string }) {
  const [first, ...others] = sums;
  if (!first) return <Text fw={600} fz="lg">{`No ${noun}s`}</Text>;
  return (
    <>
      <BigFigure>{formatMoney(first.total, first.currency)}</BigFigure>
      <Text size="sm">{formatCount(first.count, noun)}</Text>
      {others.map((sum) => (
        <Text key={sum.currency} size="sm" c="dimmed" className="figures">
          {formatMoney(sum.total, sum.currency)} · {formatCount(sum.count, noun)}
        </Text>
      ))}
    </>
  );
}
