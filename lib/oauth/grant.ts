import { AsyncLocalStorage } from 'node:async_hooks';
import { perProcess } from '@/db/per-process';

// A metadata document makes an app the same client on every device. So each time that a person lets an app in makes a
// grant of its own: a consent, and codes and tokens with the consent's reference.

const storage = () => perProcess('oauth-grant', () => new AsyncLocalStorage<string>());

/** Runs work in which the provider writes the consent and the code of a new grant. */
export function withGrant<Value>(reference: string, work: () => Promise<Value>): Promise<Value> {
  return storage().run(reference, work);
}

/** The reference of the grant that is being written. */
export function currentGrant(): string | undefined {
  return storage().getStore();
}
