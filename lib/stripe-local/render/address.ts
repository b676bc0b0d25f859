import type { Address } from '../model';
import type { Json } from './shape';

/** A world that was saved by an older version has none. */
export function renderAddress(address: Address | null | undefined): Json | null {
  return address ? { ...address, state: null } : null;
}
