import type { Runtime } from '@/lib/runtime';
import type { ClientTraits } from './clients';

/** The client as a proxy in between sees it. */
export interface Asker {
  runtime: Runtime;
  traits: Pick<ClientTraits, 'userAgent'>;
}

/** One client's way, and what the steps before one have left it. */
export interface Trial extends Asker {
  traits: ClientTraits;
  /** Who tries it out. */
  userId: string;
  clientId?: string;
  /** Whether the client was made for the trial, and goes with it. */
  isMade?: boolean;
  secret?: string | null;
  token?: string;
}
