import { scaleBand, scaleLinear } from 'd3-scale';
import classes from './chart.module.css';

export interface Bar {
  /** Unique in the chart. */
  name: string;
  value: number;
  /** Said on hover. */
  title: string;
}

interface Props {
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
export function BarChart({ label, bars, formatTick, isWhole = false, ends }: Props) {
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
