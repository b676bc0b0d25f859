import { StateError } from './tables';

/** A transaction that holds locks until it ends. */
export interface Owner {
  waitsFor: string | null;
}

/** Advisory locks of transactions. */
export class Locks {
  private readonly holders = new Map<string, Owner>();
  private readonly waiting: { key: string; owner: Owner; resume: () => void }[] = [];

  /** @throws StateError 40P01 where everybody would wait in a circle */
  async take(owner: Owner, key: string): Promise<void> {
    const holder = this.holders.get(key);
    if (holder === owner) return;
    if (!holder) {
      this.holders.set(key, owner);
      return;
    }
    owner.waitsFor = key;
    if (this.leadsTo(holder, owner)) {
      owner.waitsFor = null;
      throw new StateError('40P01', key);
    }
    await new Promise<void>((resume) => this.waiting.push({ key, owner, resume }));
  }

  release(owner: Owner): void {
    for (const [key, holder] of this.holders) {
      if (holder !== owner) continue;
      const at = this.waiting.findIndex((one) => one.key === key);
      const [next] = at === -1 ? [] : this.waiting.splice(at, 1);
      if (!next) {
        this.holders.delete(key);
        continue;
      }
      this.holders.set(key, next.owner);
      next.owner.waitsFor = null;
      next.resume();
    }
  }

  private leadsTo(from: Owner, to: Owner): boolean {
    const next = from.waitsFor === null ? undefined : this.holders.get(from.waitsFor);
    return next !== undefined && (next === to || this.leadsTo(next, to));
  }
}
