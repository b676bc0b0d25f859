import type { Database } from '@/db/database';
import { allPages } from '../../counted-list/staff-list';
import { toCsv } from '../../csv';
import type { PageStart } from '../../cursor-page';
import type { EventFilters } from './event-filters';
import { listEvents } from './inbox-queries';

const BATCH = 1000;
const COLUMNS = ['id', 'type', 'object_id', 'stripe_created', 'outcome', 'error_code'];

export function eventsCsv(db: Database, filters: EventFilters, timeZone: string): AsyncGenerator<string> {
  return toCsv(COLUMNS, readRecords(db, filters, timeZone));
}

async function* readRecords(db: Database, filters: EventFilters, timeZone: string) {
  const read = (start: PageStart) => listEvents(db, filters, { ...start, limit: BATCH, timeZone });
  for await (const batch of allPages(read)) {
    yield batch.map((event) => ({ ...event, stripe_created: event.stripe_created.toISOString() }));
  }
}
