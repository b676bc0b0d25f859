import type { Source, TimelineEntry } from './entry';

export interface TimelinePage {
  entries: TimelineEntry[];
  /** Leads to what is older; null where nothing is. */
  older: string | null;
}

/**
 * Merges the newest entries of several sources, each from its own position.
 *
 * @param cursor of the page before; an invalid cursor starts at the newest entries
 */
export async function mergeSources(
  sources: Source[],
  cursor: string | null,
  limit: number,
): Promise<TimelinePage> {
  const positions = parseCursor(sources, cursor);
  const heads = await Promise.all(sources.map((source, i) => source.read(positions[i] ?? null, limit + 1)));
  const entries: TimelineEntry[] = [];
  while (entries.length < limit) {
    const from = newest(heads);
    const next = heads[from]?.shift();
    if (!next) break;
    entries.push(next.entry);
    positions[from] = next.cursor;
  }
  return {
    entries,
    older: heads.some((head) => head.length > 0) ? positions.map((at) => at ?? '').join(SEPARATOR) : null,
  };
}

const SEPARATOR = '~';

function parseCursor(sources: Source[], cursor: string | null): (string | null)[] {
  const parts = cursor?.split(SEPARATOR) ?? [];
  const isOurs =
    parts.length === sources.length && parts.every((at, i) => at === '' || sources[i]?.isCursor(at));
  return sources.map((_, i) => (isOurs && parts[i]) || null);
}

function newest(heads: { entry: TimelineEntry }[][]): number {
  const times = heads.map(([first]) => first?.entry.at.getTime() ?? Number.NEGATIVE_INFINITY);
  return times.indexOf(Math.max(...times));
}
