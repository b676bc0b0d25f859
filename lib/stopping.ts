import { perProcess } from '@/db/per-process';

const server = perProcess('stopping', () => ({ isStopping: false }));

/** Makes `isStopping` true: this process accepts no more requests and will end soon. */
export function noteStopping(): void {
  server.isStopping = true;
}

export function isStopping(): boolean {
  return server.isStopping;
}
