import postgres from 'postgres';
import type { EventSource } from './events';

export interface Floor {
  /** Writes one event of the source as little as can be. */
  writer(source: EventSource): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

/** One transaction that inserts the raw event and updates one row by its key, through the same driver. */
export async function openFloor(url: string, connections: number): Promise<Floor> {
  const client = postgres(url, { max: connections, onnotice: () => {} });
  await client`create table bench_events (id text primary key, payload text not null)`;
  await client`create table bench_rows (id int primary key, next_billing_date date, synced_at timestamptz)`;
  let written = 0;
  return {
    writer: async (source) => {
      const objects = source.created.length;
      await client`insert into bench_rows (id)
        select generate_series(1, ${objects}::int) on conflict do nothing`;
      await client`analyze bench_rows`;
      return async () => {
        written += 1;
        const [id, row, now] = [`evt_${written}`, (written % objects) + 1, new Date()];
        const payload = source.next();
        await client.begin(async (tx) => {
          await tx`insert into bench_events (id, payload) values (${id}, ${payload})`;
          await tx`update bench_rows set next_billing_date = '2026-03-10', synced_at = ${now} where id = ${row}`;
        });
      };
    },
    close: () => client.end(),
  };
}
