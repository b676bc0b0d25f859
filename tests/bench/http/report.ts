import { measuredBy, toMarkdown } from '../performance-page';
import { type Figures, medianOf, ratioOf } from './measure';
import type { Operation } from './operations';

const HEAD = [
  'operation',
  'connections',
  'requests a second',
  'p50',
  'p99',
  "server's CPU",
  "database's CPU",
  'ours / floor',
  'ours / Next',
];

export interface Result {
  operation: Operation;
  connections: number;
  ours: Figures;
  next: Figures;
  floor: Figures;
}

/** The section of docs/performance.md. */
export function toText(results: Result[], synchronousCommit: string): string {
  return `Our server, \`next start\` of the same build, and a floor: a bare node:http server that asks PostgreSQL the same
through the same driver, looks the token up and checks the webhook's signature, but validates nothing and decides
nothing. All figures are in this order; times are in milliseconds, a processor's time is for one request, ratios are
those of the requests a second, with the least they must be. \`synchronous_commit\` is ${synchronousCommit}.

${measuredBy('http')}

${toMarkdown([HEAD, ...results.map(toLine)])}
`;
}

/** One operation as it is printed while the bench runs. */
export const toSentence = (result: Result): string => toLine(result).join('   ');

/** What missed a limit, a sentence each. */
export function missedBy(result: Result): string[] {
  const { operation, connections, ours, next, floor } = result;
  const { ofFloor, ofNext } = operation.least;
  const missed = [
    { name: 'the floor', ratio: ratioOf(ours, floor), least: ofFloor },
    { name: 'next start', ratio: ratioOf(ours, next), least: ofNext },
  ].filter(({ ratio, least }) => !(ratio >= least));
  return missed.map(
    ({ name, ratio, least }) =>
      `${operation.name}, connections ${connections}: ${ratio.toFixed(2)} of ${name}, at least ${least} wanted`,
  );
}

function toLine({ operation, connections, ours, next, floor }: Result): string[] {
  const all = (read: (figures: Figures) => string) => [ours, next, floor].map(read).join(' / ');
  const { ofFloor, ofNext } = operation.least;
  return [
    operation.name,
    String(connections),
    all((figures) => medianOf(figures).toFixed(0)),
    all(({ p50 }) => p50.toFixed(1)),
    all(({ p99 }) => p99.toFixed(1)),
    all(({ server }) => toCpu(server)),
    all(({ database }) => toCpu(database)),
    `${ratioOf(ours, floor).toFixed(2)} (${ofFloor.toFixed(2)})`,
    `${ratioOf(ours, next).toFixed(1)}${ofNext > 0 ? ` (${ofNext})` : ''}`,
  ];
}

const toCpu = (milliseconds: number) => (Number.isNaN(milliseconds) ? '–' : milliseconds.toFixed(2));
