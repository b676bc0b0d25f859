import { MAX_HITS, type SearchHit } from './schema';

/** What a kind of record has for a text. */
export interface Found {
  hits: SearchHit[];
  /** How many of them, at the start, the text names as a whole. */
  exact: number;
  more: boolean;
}

/**
 * Asks for those that the text names, then for others only while there are too few.
 *
 * @param exact at most `limit` hits that the text names as a whole
 * @param others the cheapest first; each may meet hits again that were met before
 */
export async function collect(exact: Read, ...others: Read[]): Promise<Found> {
  const named = await exact(MAX_HITS + 1);
  const found = new Map(named.map((hit) => [hit.id, hit]));
  for (const read of others) {
    if (found.size > MAX_HITS) break;
    for (const hit of await read(MAX_HITS + 1 + found.size)) found.set(hit.id, found.get(hit.id) ?? hit);
  }
  return {
    hits: [...found.values()].slice(0, MAX_HITS),
    exact: Math.min(named.length, MAX_HITS),
    more: found.size > MAX_HITS,
  };
}

type Read = (limit: number) => Promise<SearchHit[]>;

/** So many matches are looked at to find the best of them, however many there are. */
export const CANDIDATES = 500;
