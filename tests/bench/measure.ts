import { existsSync, readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { cpus, totalmem } from 'node:os';
import { performance } from 'node:perf_hooks';
import { sql } from 'drizzle-orm';
import { type Database, rows } from '@/db/database';

/** The number of simultaneous connections for which the benches require a minimum speed, unless they say otherwise. */
export const CONNECTIONS = 20;

/** One subject of a comparison. The bench calls `once` repeatedly. */
export interface Contender {
  name: string;
  once(agent: Agent): Promise<unknown>;
  /** Milliseconds of CPU time that the contender's server has used so far. */
  cpuMs?(): number;
}

export interface Figures {
  /** Calls per second, by round. */
  perSecond: number[];
  /** Median duration of a call in milliseconds. */
  p50: number;
  p99: number;
  /** Milliseconds of CPU time per call. NaN if the process cannot be observed. */
  server: number;
  database: number;
}

interface Rounds {
  rounds?: number;
  roundMs?: number;
  warmUpMs?: number;
  /** If given, the CPU time of this database is measured, too. */
  db?: Database;
}

/**
 * Compares the contenders and prints a line for each.
 *
 * @returns for each contender, its calls per second divided by those of the first one, as the median over all rounds
 */
export async function compareAll(
  what: string,
  contenders: Contender[],
  connections: number,
  rounds?: Rounds,
): Promise<number[]> {
  const measured = await measureAll(contenders, connections, rounds);
  const [first] = measured as [Figures];
  console.log(`\n${what}, ${connections} connection${connections === 1 ? '' : 's'}`);
  return measured.map((figures, i) => {
    const ratio = ratioOf(figures, first);
    const columns = [
      `  ${contenders[i]?.name.padEnd(18)}${medianOf(figures).toFixed(0).padStart(6)} a second`,
      `p50 ${figures.p50.toFixed(1).padStart(5)} ms`,
      `p99 ${figures.p99.toFixed(1).padStart(5)} ms`,
      ...(Number.isNaN(figures.server) ? [] : [`server's CPU ${figures.server.toFixed(2)} ms`]),
      `${ratio.toFixed(2)} of the first`,
    ];
    console.log(columns.join('   '));
    return ratio;
  });
}

/** Prints whether the ratio on `CONNECTIONS` connections is at least `least`. If it is not, the bench fails. */
export function requireRatio(what: string, ratio: number, least: number): void {
  const isMet = ratio >= least;
  console.log(
    `\n${what} must be at least ${least} on ${CONNECTIONS} connections: ${isMet ? 'it is' : 'it is NOT'}`,
  );
  if (!isMet) process.exitCode = 1;
}

/** Prints the missed limits. The bench fails if a limit was missed. */
export function requireNone(missed: string[]): void {
  console.log(missed.length === 0 ? '\nAll limits are kept.' : `\nMissed:\n${missed.join('\n')}`);
  if (missed.length > 0) process.exitCode = 1;
}

/** Measures the contenders in turn, round by round, so that other work on the machine slows all of them alike. */
export async function measureAll(
  contenders: Contender[],
  connections: number,
  { rounds = 5, roundMs = 1500, warmUpMs = 1500, db }: Rounds = {},
): Promise<Figures[]> {
  const count = Number(process.env.BENCH_ROUNDS ?? rounds);
  const milliseconds = Number(process.env.BENCH_ROUND_MS ?? roundMs);
  const measured = contenders.map((one) => ({ one, loads: [] as Load[], server: 0, database: 0 }));
  for (const { one } of measured) await keepBusy(one, warmUpMs, connections);
  for (let round = 1; round <= count; round += 1) {
    for (const each of measured) {
      const cpuMs = () => each.one.cpuMs?.() ?? Number.NaN;
      const [server, database] = [cpuMs(), await databaseCpu(db)];
      each.loads.push(await keepBusy(each.one, milliseconds, connections));
      each.server += cpuMs() - server;
      each.database += spentBetween(database, await databaseCpu(db));
    }
  }
  return measured.map(({ loads, server, database }) => {
    const times = loads.flatMap((load) => load.times).sort((a, b) => a - b);
    return {
      perSecond: loads.map(({ perSecond }) => perSecond),
      p50: percentile(times, 0.5),
      p99: percentile(times, 0.99),
      server: server / times.length,
      database: database / times.length,
    };
  });
}

/** Returns the median of the calls per second over all rounds. */
export const medianOf = ({ perSecond }: Figures): number =>
  percentile(
    perSecond.toSorted((a, b) => a - b),
    0.5,
  );

/** Returns our calls per second divided by theirs, as the median over all rounds. */
export const ratioOf = (ours: Figures, theirs: Figures): number =>
  medianOf({
    ...ours,
    perSecond: ours.perSecond.map((figure, round) => figure / (theirs.perSecond[round] ?? Number.NaN)),
  });

/** Returns a percentile of sorted figures. A `share` of 0.99 gives the 99th percentile. */
export function percentile(sorted: number[], share: number): number {
  return sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? Number.NaN;
}

interface Load {
  perSecond: number;
  /** Duration of each call in milliseconds. */
  times: number[];
}

/**
 * Keeps all connections busy. Opens new connections, because a server may have closed the connections of an earlier
 * round.
 */
async function keepBusy({ once }: Contender, milliseconds: number, connections: number): Promise<Load> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const times: number[] = [];
  const started = performance.now();
  const until = started + milliseconds;
  const worker = async () => {
    for (let sent = started; sent < until; ) {
      await once(agent);
      const now = performance.now();
      times.push(now - sent);
      sent = now;
    }
  };
  await Promise.all(Array.from({ length: connections }, worker)).finally(() => agent.destroy());
  return { perSecond: (times.length * 1000) / (performance.now() - started), times };
}

/**
 * Returns the CPU time of a process in milliseconds. Fields 14 and 15 of /proc/[pid]/stat are its user and system time
 * in hundredths of a second.
 */
export function cpuMsOf(pid: number | undefined): number {
  const fields = readProcess(pid, 'stat').split(') ')[1] ?? '';
  const [user = Number.NaN, system = Number.NaN] = fields.split(' ').slice(11, 13).map(Number);
  return (user + system) * 10;
}

/**
 * Returns the CPU milliseconds of the PostgreSQL processes that serve this database, by process id. Leaves out the
 * process of this query. Returns an empty map if PostgreSQL is remote.
 */
async function databaseCpu(db: Database | undefined): Promise<Map<number, number>> {
  if (!db) return new Map();
  const found = await rows<{ pid: number }>(
    db,
    sql`select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
  );
  const local = found.filter(({ pid }) => readProcess(pid, 'comm').trim() === 'postgres');
  return new Map(local.map(({ pid }) => [pid, cpuMsOf(pid)]));
}

function spentBetween(before: Map<number, number>, after: Map<number, number>): number {
  if (after.size === 0) return Number.NaN;
  return [...after].reduce((sum, [pid, ms]) => sum + ms - (before.get(pid) ?? 0), 0);
}

function readProcess(pid: number | undefined, name: string): string {
  const file = `/proc/${pid}/${name}`;
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

export interface Target {
  name: string;
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  url: URL;
  headers: Record<string, string>;
  /** The body, or a function that returns the body of each request. */
  body?: string | (() => string);
}

export const asking = (target: Target) => (agent: Agent) => send(target, agent);

/** Sends one request. @throws Error if the status is not 200, 201 or 204 */
export function send(target: Target, agent?: Agent): Promise<{ status: number; body: string }> {
  const { name, method, url, body } = target;
  const text = typeof body === 'function' ? body() : (body ?? '');
  const headers =
    text === '' ? target.headers : { ...target.headers, 'Content-Length': Buffer.byteLength(text) };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, ...(agent && { agent }) }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('error', reject);
      response.once('end', () => {
        const status = response.statusCode ?? 0;
        const answer = Buffer.concat(chunks).toString();
        if ([200, 201, 204].includes(status)) resolve({ status, body: answer });
        else reject(new Error(`${name} answered ${status}: ${answer.slice(0, 300)}`));
      });
    });
    sent.once('error', reject);
    sent.end(text);
  });
}

const PAGE = 'docs/performance.md';

/** Replaces a section of docs/performance.md or adds it at the end. The other sections stay. */
export async function writeSection(
  title: string,
  bench: string,
  text: string,
  table: string[][],
): Promise<void> {
  const page = await readFile(PAGE, 'utf8');
  const [head, ...sections] = page.trimEnd().split(/\n+(?=## )/);
  const written = [`## ${title}`, text, measuredBy(bench), toMarkdown(table)].join('\n\n');
  const at = sections.findIndex((section) => section.startsWith(`## ${title}\n`));
  const all = at < 0 ? [...sections, written] : sections.with(at, written);
  await writeFile(PAGE, `${[head, ...all].join('\n\n')}\n`);
}

/** Returns the date, the machine and the command of a bench run. */
function measuredBy(bench: string): string {
  const [processor] = cpus();
  const machine = `${cpus().length} × ${processor?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GB`;
  const day = new Date().toISOString().slice(0, 10);
  return `${day}, ${machine}, Node.js ${process.version}; by \`npm run bench -- ${bench}\`.`;
}

/** Returns a Markdown table with aligned columns. The first line is the header row. */
export function toMarkdown(lines: string[][]): string {
  const [head = [], ...rest] = lines;
  const widths = head.map((_, i) => Math.max(3, ...lines.map((line) => line[i]?.length ?? 0)));
  const ruled = [head, widths.map((width) => '-'.repeat(width)), ...rest];
  return ruled
    .map((line) => `| ${widths.map((width, i) => (line[i] ?? '').padEnd(width)).join(' | ')} |`)
    .join('\n');
}
