import { Session } from 'node:inspector/promises';
import { SourceMap, type SourceMapping } from 'node:module';
import { exemptPlaces } from './exempt';

const DECIDE = /\/(lib\/sync\/decide\/[^?]+)/;

interface Script {
  file: string;
  /** By offset, the place in our source: `lib/sync/decide/plan.ts:12:3`; null where nothing can be reached. */
  places: (string | null)[];
}

/** Which blocks of `decide` were reached in this process, as V8 counts them. */
export class BlockCoverage {
  private readonly session = new Session();
  private readonly scripts = new Map<string, Script>();
  private readonly unreached = new Set<string>();

  /** To be called before anything of `decide` is loaded: what is compiled already counts no blocks. */
  async start(): Promise<void> {
    this.session.connect();
    await this.session.post('Profiler.enable');
    await this.session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  /** Once all of it is loaded. */
  async readSources(): Promise<void> {
    const isExempt = exemptPlaces();
    const found: { scriptId: string; url: string }[] = [];
    this.session.on('Debugger.scriptParsed', ({ params }) => found.push(params));
    await this.session.post('Debugger.enable');
    for (const { scriptId, url } of found) {
      const [, file] = DECIDE.exec(url) ?? [];
      if (file === undefined || this.scripts.has(url)) continue;
      const { scriptSource } = await this.session.post('Debugger.getScriptSource', { scriptId });
      const places = placesOf(file, scriptSource);
      this.scripts.set(url, { file, places });
      for (const place of places) if (place !== null && !isExempt(place)) this.unreached.add(place);
    }
    await this.session.post('Debugger.disable');
  }

  /** What was not reached up to now. */
  async take(): Promise<string[]> {
    const { result } = await this.session.post('Profiler.takePreciseCoverage');
    for (const { url, functions } of result) {
      const script = this.scripts.get(url);
      if (script) for (const place of reached(script, functions)) this.unreached.delete(place);
    }
    return [...this.unreached];
  }
}

interface Ranges {
  ranges: { startOffset: number; endOffset: number; count: number }[];
}

function reached({ places }: Script, functions: Ranges[]): Set<string> {
  const counts = new Uint8Array(places.length).fill(1);
  // From the outside in: the innermost range of a place has its count.
  const ranges = functions.flatMap((one) => one.ranges);
  ranges.sort((a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset);
  for (const { startOffset, endOffset, count } of ranges)
    counts.fill(count > 0 ? 1 : 0, startOffset, endOffset);
  const found = new Set<string>();
  for (const [at, place] of places.entries()) if (place !== null && counts[at] === 1) found.add(place);
  return found;
}

/** What stands after a block that always ends early is of no block. */
const SILENT = new Set(' \n\t;,)}]');

function placesOf(file: string, source: string): Script['places'] {
  const [, encoded = ''] = /sourceMappingURL=data:application\/json;base64,(\S+)/.exec(source) ?? [];
  const map = new SourceMap(JSON.parse(Buffer.from(encoded, 'base64').toString('utf8')));
  const end = source.lastIndexOf('//# sourceMappingURL');
  let [line, column] = [0, 0];
  return [...source].map((letter, at) => {
    const isPlace = at < end && !SILENT.has(letter);
    const found = isPlace ? (map.findEntry(line, column) as Partial<SourceMapping>) : {};
    if (letter === '\n') [line, column] = [line + 1, 0];
    else column += 1;
    const { originalLine, originalColumn } = found;
    if (originalLine === undefined || originalColumn === undefined) return null;
    return `${file}:${originalLine + 1}:${originalColumn + 1}`;
  });
}
