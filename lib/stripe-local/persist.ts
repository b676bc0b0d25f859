import { existsSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { seededChance } from '../chance';
import { StartError } from '../errors';
import { parseJson } from './respond';
import { COLLECTIONS, type Collection, createWorld, type World } from './world';

const FORMAT = 1;
const NAMES = Object.values(COLLECTIONS);

type Entries = Record<string, { id: string; created: number }[]>;
type Saved = { format: number; chance: number; objects: Entries; deleted: Entries };

/** Saves a world to a file atomically, including the state of its random number generator. */
export async function saveWorld(world: World, file: string): Promise<void> {
  const saved: Saved = { format: FORMAT, chance: world.chance.state, objects: {}, deleted: {} };
  for (const name of NAMES) {
    saved.objects[name] = [...world[name].values()];
    saved.deleted[name] = world[name].tombstones();
  }
  await writeFile(`${file}.tmp`, JSON.stringify(saved), { mode: 0o600 });
  await rename(`${file}.tmp`, file);
}

/**
 * Loads a world that `saveWorld` saved.
 *
 * @returns null if the file does not exist
 * @throws StartError if the file is not a world in the current format
 */
export async function loadWorld(
  file: string,
  given: { now(): Date; timeZone?: string },
): Promise<World | null> {
  const saved = await readSaved(file);
  if (!saved) return null;
  const world = createWorld({ ...given, chance: seededChance(saved.chance) });
  for (const name of NAMES) {
    const collection = world[name] as unknown as Collection<Entries[string][number]>;
    for (const entry of saved.deleted[name] ?? []) collection.bury(entry);
    for (const object of saved.objects[name] ?? []) collection.put(object);
  }
  world.history.push(...world.events.values());
  return world;
}

const DELAY_MS = 200;

/** Creates a saver that writes a world to a file. It combines changes in quick succession into one write. */
export function createSaver(world: World, file: string, log?: (message: string) => void) {
  let timer: NodeJS.Timeout | undefined;
  let writing = Promise.resolve();
  const save = () => {
    timer = undefined;
    writing = writing.then(() => saveWorld(world, file));
    return writing;
  };
  return {
    /** Saves the world after `DELAY_MS`. Further calls before then have no effect. */
    schedule() {
      timer ??= setTimeout(() => {
        save().catch((error: unknown) => {
          writing = Promise.resolve();
          log?.(`stripe-local: ${file} could not be saved: ${String(error)}`);
        });
      }, DELAY_MS).unref();
    },
    /** Saves scheduled changes immediately. Resolves when all changes are on disk. */
    async flush() {
      if (!timer) return writing;
      clearTimeout(timer);
      await save();
    },
  };
}

async function readSaved(file: string): Promise<Saved | null> {
  if (!existsSync(file)) return null;
  const saved = parseJson(await readFile(file, 'utf8'), null, completeSaved) as Saved | null;
  if (saved?.format === FORMAT) return saved;
  throw new StartError([
    `${file} is not a saved local Stripe of this version: delete it to start with a new one.`,
  ]);
}

/** Default values of fields that invoices in older files lack. */
const ADDED_TO_INVOICES = {
  prePaymentCreditNotesAmount: 0,
  postPaymentCreditNotesAmount: 0,
  effectiveAt: null,
  startingBalance: 0,
  revises: null,
};

/** JSON reviver that adds missing fields to the invoices of an older file, including invoices inside events. */
function completeSaved(_key: string, saved: unknown): unknown {
  if (typeof saved !== 'object' || saved === null) return saved;
  if (!('object' in saved) || saved.object !== 'invoice') return saved;
  const isComplete = Object.keys(ADDED_TO_INVOICES).every((field) => field in saved);
  return isComplete ? saved : { ...ADDED_TO_INVOICES, ...saved };
}
