export class Table<Key extends string | number, Row extends object> {
  /** Null: deleted. */
  readonly changed = new Map<Key, Row | null>();

  constructor(
    private readonly stored: ReadonlyMap<Key, Row>,
    private readonly keyOf: (row: Row) => Key,
  ) {}

  get(key: Key): Row | undefined {
    const changed = this.changed.get(key);
    return changed === undefined ? this.stored.get(key) : (changed ?? undefined);
  }

  before(key: Key): Row | undefined {
    return this.stored.get(key);
  }

  all(): Row[] {
    if (this.changed.size === 0) return [...this.stored.values()];
    const rows = [...this.stored.keys()].flatMap((key) => this.get(key) ?? []);
    const added = [...this.changed].flatMap(([key, row]) => (row && !this.stored.has(key) ? row : []));
    return [...rows, ...added];
  }

  put(row: Row): Row {
    this.changed.set(this.keyOf(row), row);
    return row;
  }

  delete(key: Key): void {
    this.changed.set(key, null);
  }
}
