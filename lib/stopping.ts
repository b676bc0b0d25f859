import { perProcess } from '@/db/per-process';

const server = perProcess('stopping', () => ({ isStopping: false }));

/** Notes that this process takes no more requests and ends soon. */
export function noteStopping(): void {
  server.isStopping = true;
}

export function isStopping(): boolean {
  return server.isStopping;
}
