interface Entry {
  readonly id: string;
  readonly created: number;
}

/** Objects of one kind in the order of Stripe's lists, found by id and by the fields that never change. */
export class Collection<T extends Entry> {
  readonly #objects = new Map<string, T>();
  /** Oldest first, then by id. */
  readonly #order: Entry[] = [];
  readonly #deleted = new Map<string, Entry>();
  readonly #indexes: Map<keyof T, Map<unknown, Entry[]>>;

  constructor(indexed: readonly (keyof T)[] = []) {
    this.#indexes = new Map(indexed.map((field) => [field, new Map()]));
  }

  get size(): number {
    return this.#objects.size;
  }

  get(id: string): T | undefined {
    return this.#objects.get(id);
  }

  /** Adds an object, or puts it in the place of the one with its id. */
  put(object: T): T {
    const isNew = !this.#objects.has(object.id);
    this.#objects.set(object.id, object);
    if (!isNew) return object;
    const entry = { id: object.id, created: object.created };
    insert(this.#order, entry);
    for (const [field, index] of this.#indexes) {
      const entries = index.get(object[field]);
      if (entries) insert(entries, entry);
      else index.set(object[field], [entry]);
    }
    return object;
  }

  delete(id: string): void {
    const object = this.#objects.get(id);
    if (!object) return;
    this.#objects.delete(id);
    this.#deleted.set(id, { id, created: object.created });
    remove(this.#order, object);
    for (const [field, index] of this.#indexes) remove(index.get(object[field]) ?? [], object);
  }

  /** Where an object stands or stood: a deleted one still serves as a cursor. */
  place(id: string): Entry | undefined {
    return this.#objects.get(id) ?? this.#deleted.get(id);
  }

  /** The ids that are gone, for saving. */
  tombstones(): Entry[] {
    return [...this.#deleted.values()];
  }

  bury(entry: Entry): void {
    this.#deleted.set(entry.id, entry);
  }

  /** In the order they were put. */
  values(): IterableIterator<T> {
    return this.#objects.values();
  }

  /** Oldest first, those with this value only. */
  *where<K extends keyof T>(field: K, value: T[K]): Generator<T> {
    yield* this.#objectsOf(this.#entries(field, value));
  }

  /** Newest first, beginning after a place. */
  *older(than: Entry | undefined, among?: { field: keyof T; value: unknown }): Generator<T> {
    const entries = among ? this.#entries(among.field, among.value) : this.#order;
    for (let i = (than ? position(entries, than) : entries.length) - 1; i >= 0; i--)
      yield* this.#at(entries, i);
  }

  /** Oldest first, beginning after a place. */
  *newer(than: Entry, among?: { field: keyof T; value: unknown }): Generator<T> {
    const entries = among ? this.#entries(among.field, among.value) : this.#order;
    const from = position(entries, than);
    for (let i = entries[from]?.id === than.id ? from + 1 : from; i < entries.length; i++) {
      yield* this.#at(entries, i);
    }
  }

  #entries(field: keyof T, value: unknown): Entry[] {
    const index = this.#indexes.get(field);
    if (!index) throw new Error(`no index on ${String(field)}`);
    return index.get(value) ?? [];
  }

  *#objectsOf(entries: Entry[]): Generator<T> {
    for (let i = 0; i < entries.length; i++) yield* this.#at(entries, i);
  }

  *#at(entries: Entry[], i: number): Generator<T> {
    const object = this.#objects.get(entries[i]?.id ?? '');
    if (object) yield object;
  }
}

function insert(entries: Entry[], entry: Entry): void {
  const last = entries.at(-1);
  if (!last || compare(last, entry) < 0) entries.push(entry);
  else entries.splice(position(entries, entry), 0, entry);
}

function remove(entries: Entry[], entry: Entry): void {
  const at = position(entries, entry);
  if (entries[at]?.id === entry.id) entries.splice(at, 1);
}

/** The first index whose entry does not come before this one. */
function position(entries: Entry[], entry: Entry): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const at = entries[middle];
    if (at && compare(at, entry) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function compare(a: Entry, b: Entry): number {
  if (a.created !== b.created) return a.created - b.created;
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}
