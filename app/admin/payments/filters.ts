import { type StaffFilters, staffFilters } from '@/lib/payments/staff-filters';

export interface ParsedFilters {
  /** Null when one is wrong. */
  filters: StaffFilters | null;
  /** Of each wrong field its first message. */
  problems: Record<string, string>;
  /** What stands in the address, for links: without the page, and without what is not ours. */
  params: URLSearchParams;
  /** True where payments are left out. */
  active: boolean;
}

const NAMES = Object.keys(staffFilters.shape);

/** The filters and the order in an address of the list. */
export function parseFilters(search: URLSearchParams): ParsedFilters {
  const given = [...search].filter(([name]) => NAMES.includes(name) || name === 'per_page');
  const parsed = staffFilters.safeParse(Object.fromEntries(given));
  const problems: Record<string, string> = {};
  for (const { path, message } of parsed.error?.issues ?? []) problems[String(path[0])] ??= message;
  return {
    filters: parsed.data ?? null,
    problems,
    params: new URLSearchParams(given),
    active: given.some(([name]) => name !== 'sort' && name !== 'per_page'),
  };
}
