import { type Keys, mergeKeys, noKeys } from '../store/keys';
import type { Snapshot } from '../store/snapshot';
import { AllTables } from './tables';

export class KeyedTables extends AllTables {
  missing: Keys = noKeys();

  constructor(readonly snapshot: Snapshot) {
    super(snapshot.rows);
  }

  get isMissing(): boolean {
    return Object.values(this.missing).some((keys) => keys.length > 0);
  }

  protected require(keys: Partial<Keys>): void {
    for (const name of Object.keys(keys) as (keyof Keys)[]) {
      const known: (string | number)[] = this.snapshot.keys[name];
      if (!keys[name]?.every((key) => known.includes(key))) this.missing = mergeKeys(this.missing, keys);
    }
  }
}
