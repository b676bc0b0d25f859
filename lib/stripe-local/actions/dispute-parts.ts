import type { DisputeTransaction } from '../model-returns';
import { epochNow, newId, type World } from '../world';

const DAY = 86_400;

/** Banks leave from 9 to 20 days for an answer. */
export function evidenceDueBy(world: World): number {
  return epochNow(world) + (9 + Math.floor(world.chance.draw() * 12)) * DAY;
}

/** The disputed money leaves our balance. */
export function withdrawal(world: World, amount: number): DisputeTransaction {
  return { id: newId(world, 'txn_'), created: epochNow(world), amount: -amount };
}

/** It comes back. */
export function reversal(world: World, amount: number): DisputeTransaction {
  return { id: newId(world, 'txn_'), created: epochNow(world), amount };
}
