import { sql } from 'drizzle-orm';
import { openPostgres } from '@/db/client';
import { createLogger } from '@/lib/log';
import { toProviderEvent } from '@/lib/stripe/to-event';
import { handleEvent } from '@/lib/sync/handle-event';
import type { SyncDeps } from '@/lib/sync/sync-deps';
import { withSeededDatabase } from './tests/bench/database';
import { keepBusy } from './tests/bench/load';
import { subscriptionEvents } from './tests/bench/webhook/events';
import { openFloor } from './tests/bench/webhook/floor';
import { Session } from 'node:inspector/promises';
import { writeFileSync } from 'node:fs';
await withSeededDatabase(async (db, url) => {
  const { db: pooled, close } = openPostgres(url, { max: 20 });
  const deps: SyncDeps = { db: pooled, stripe: null, now: () => new Date(), log: createLogger('error'), timeZone: 'UTC' };
  const floor = await openFloor(url, 20);
  const many = subscriptionEvents('hmany', 1000), one = subscriptionEvents('hone', 1);
  for (const s of [many, one]) for (const p of s.created) { const e = toProviderEvent(JSON.parse(p)); if (e) await handleEvent(deps, e, p); }
  await db.execute(sql`
    insert into customer_services (service_number, customer_id, service_type, status, name, price)
    select 'BENCH-' || i.id, s.customer_id, 'hosting', 'active', 'Bench', 19
    from subscription_items i join subscriptions s on s.id = i.subscription_id
    where i.customer_service_id is null and i.stripe_subscription_item_id is not null`);
  await db.execute(sql`
    update subscription_items i set customer_service_id = c.id from customer_services c
    where c.service_number = 'BENCH-' || i.id and i.customer_service_id is null`);
  await db.execute(sql`analyze`);
  for (const [name, source] of [['many', many], ['one', one]] as const) {
    const w = await floor.writer(source);
    const once = async () => { const payload = source.next(); const e = toProviderEvent(JSON.parse(payload)); if (e) await handleEvent(deps, e, payload); };
    await keepBusy(w, 1000, 20); await keepBusy(once, 1500, 20);
    const a: number[] = [], b: number[] = [], ca: number[] = [], cb: number[] = [];
    for (let i = 0; i < 5; i++) {
      let u = process.cpuUsage(); let l = await keepBusy(w, 1000, 20); let v = process.cpuUsage(u); a.push(Math.round(l.perSecond)); ca.push(Math.round((v.user + v.system) / l.perSecond));
      u = process.cpuUsage(); l = await keepBusy(once, 1500, 20); v = process.cpuUsage(u); b.push(Math.round(l.perSecond)); cb.push(Math.round((v.user + v.system) / l.perSecond / 1.5));
    }
    const med = (x: number[]) => x.toSorted((p, q) => p - q)[2]!;
    console.log(name, 'floor', a.join(), 'cpu', ca.join(), 'handler', b.join(), 'cpu', cb.join(), 'ratio', (med(b.map((x, i) => x / a[i]!))).toFixed(3));
    if (process.env.PROF && name === 'many') {
      const s = new Session(); s.connect(); await s.post('Profiler.enable'); await s.post('Profiler.setSamplingInterval', { interval: 200 }); await s.post('Profiler.start');
      await keepBusy(once, 4000, 20);
      const { profile } = await s.post('Profiler.stop'); writeFileSync(process.env.PROF, JSON.stringify(profile));
    }
  }
  await floor.close(); await close();
});
process.exit(0);
