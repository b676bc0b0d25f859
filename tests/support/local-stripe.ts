import { afterAll, beforeAll, expect } from 'vitest';
import { createStripeClient } from '@/lib/stripe/client';
import { seededChance } from '@/lib/stripe-local/chance';
import type { WorldEvent } from '@/lib/stripe-local/model';
import { renderEvent } from '@/lib/stripe-local/render/event';
import { type StripeLocal, startStripeLocal } from '@/lib/stripe-local/server';
import { createWorld, type World } from '@/lib/stripe-local/world';
import { HANDLED_EVENT_TYPES } from '@/lib/sync/inbox/event-types';
import { type ReconcileResult, reconcile } from '@/lib/sync/reconcile/reconcile';
import { syncDeps } from '@/lib/sync/sync-deps';
import type { Api } from './api';
import { deliver } from './stripe-events';

const KEY = 'sk_test_local';

export interface LocalStripe {
  readonly world: World;
  readonly local: StripeLocal;
  /** Moves both clocks on. */
  later(seconds: number): void;
  /** Delivers what Stripe tells of an action; the webhook has no API key then, unless it is given one. */
  tell(done: { events: WorldEvent[] }, options?: { withKey?: boolean }): Promise<void>;
  /** The daily job of the next day, with an API key. */
  night(): Promise<ReconcileResult>;
}

/** A local Stripe for a server with the webhook, for the tests of one file. */
export function useLocalStripe(server: Api): LocalStripe {
  let opened: { world: World; local: StripeLocal; client: ReturnType<typeof createStripeClient> } | undefined;
  const get = () => {
    if (!opened) throw new Error('the local Stripe runs only inside tests');
    return opened;
  };
  beforeAll(async () => {
    const world = createWorld({ now: server.runtime.now, chance: seededChance(31) });
    const local = await startStripeLocal({ world, secretKey: KEY });
    opened = { world, local, client: createStripeClient(KEY, local.url, 10_000) };
  });
  afterAll(() => opened?.local.close());
  const later = (seconds: number) =>
    server.runtime.setNow(new Date(server.runtime.now().getTime() + seconds * 1000));
  return {
    get world() {
      return get().world;
    },
    get local() {
      return get().local;
    },
    later,
    tell: async ({ events }, { withKey = true } = {}) => {
      const { runtime, url } = server;
      runtime.stripe = withKey ? get().client : null;
      for (const event of events.filter(({ type }) => HANDLED_EVENT_TYPES.includes(type))) {
        const told = await deliver(url, renderEvent(event, '2026-10-28.endive'), runtime.now());
        expect(told).toMatchObject({ status: 200, body: { outcome: 'processed' } });
      }
    },
    night: () => {
      server.runtime.stripe = get().client;
      later(86_400);
      return reconcile(syncDeps(server.runtime), { trigger: 'cron', startedBy: null });
    },
  };
}
