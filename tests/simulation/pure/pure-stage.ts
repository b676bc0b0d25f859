import { setImmediate } from 'node:timers/promises';
import type { Database } from '@/db/database';
import type { Logger } from '@/lib/log';
import { toProviderEvent } from '@/lib/stripe/to-event';
import type { SyncDeps } from '@/lib/sync/sync-deps';
import type { Look } from '../looks';
import type { Scene, Stage } from '../stage';
import { ModelApi } from './api';
import { takeModelEvent } from './deliver';
import { Model } from './model';
import { reconcileModel } from './night';
import type { ModelProcess } from './process';
import { toTables } from './to-tables';

const NO_DATABASE = new Proxy({} as Database, {
  get: (_, name) => {
    throw new Error(`the model has no database, and somebody asks it for ${String(name)}`);
  },
});
const silent = () => {};
const NO_LOG = { info: silent, warn: silent, error: silent } as unknown as Logger;

const openModel = ({ seed, now }: Scene) => new Model(seed, now);

/** Decisions over tables in memory: nothing in between that takes time. */
export function openPureStage(open: (scene: Scene) => Model | Promise<Model> = openModel): Stage {
  const api = new ModelApi();
  let scene: Scene | undefined;
  let model: Model | undefined;
  let shared: ModelProcess | undefined;
  const current = () => {
    if (!scene || !model || !shared) throw new Error('the stage is empty');
    return { scene, model, shared };
  };
  const depsOf = (
    { hasKey, now, timeZone, linkByEmail }: Scene,
    store: ModelProcess,
    looks: Look[],
  ): SyncDeps => ({
    db: NO_DATABASE,
    store,
    stripe: hasKey ? api.client(looks) : null,
    mode: null,
    now,
    log: NO_LOG,
    timeZone,
    linkByEmail,
    eventRetentionDays: 180,
    toolCallRetentionDays: 90,
  });
  return {
    faults: api.faults,
    requestCount: () => api.count,
    async begin(given) {
      await setImmediate(); // a message is received in no other moment of a history
      scene = given;
      const made = await open(given);
      model = made;
      shared = made.process(undefined);
      api.world = given.world;
      api.wait = () => made.turns.wait();
      api.faults.clear();
    },
    async receive({ rendered, body, crash, isOwnProcess, isReplay = false }, looks) {
      const { scene, model, shared } = current();
      const process = isOwnProcess ? model.process(crash) : model.process(undefined, shared.scope);
      const event = toProviderEvent(rendered);
      if (!event) throw new Error('the world renders events');
      const deps = depsOf(scene, process, looks);
      const given = { event, payload: body, again: isReplay };
      const isDropped = model.tables.rows.events.get(event.id)?.payload === '';
      if (isReplay && isDropped) return { status: 200, answer: 'dropped', ...process.went };
      try {
        const outcome = await model.turns.doing(() => takeModelEvent(process, deps, given));
        return { status: 200, answer: JSON.stringify({ received: true, outcome }), ...process.went };
      } catch (error) {
        const answer = error instanceof Error ? String(error.stack) : String(error);
        return { status: 500, answer, ...process.went };
      }
    },
    async reconcile(crash, looks) {
      const { scene, model } = current();
      const process = model.process(crash);
      const deps = depsOf(scene, process, looks);
      try {
        const result = await model.turns.doing(() => reconcileModel(model, process, deps));
        return { result, ...process.went };
      } catch (error) {
        if (!process.went.crashed) throw error;
        return { result: null, ...process.went };
      }
    },
    hands() {
      const { scene, model, shared } = current();
      return model.hands(shared, depsOf(scene, shared, []));
    },
    tables: async () => toTables(current().model),
    lastChanges: async (count) => current().model.tables.runChanges.slice(-count).reverse(),
    close: async () => {},
  };
}
