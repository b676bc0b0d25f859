import { z } from 'zod';
import { serverStatus } from '@/db/schema';
import { oneOf, textLine } from '../fields';
import { perPageParam } from '../page';

export const SERVER_STATUSES = serverStatus.enumValues;

/** What staff narrow the list of servers to. */
export const serverFilters = z.object({
  /** Part of a host name, an address, a system or a location; case does not matter. */
  q: textLine(200).optional(),
  status: oneOf(SERVER_STATUSES).optional(),
  per_page: perPageParam,
});
export type ServerFilters = z.infer<typeof serverFilters>;
