import { workAsyncStorage } from 'next/dist/server/app-render/work-async-storage.external';
import { workUnitAsyncStorage } from 'next/dist/server/app-render/work-unit-async-storage.external';

/** Runs a server action as Next does for a request with these headers. */
export function asAction<T>(headers: Record<string, string>, run: () => T): T {
  const work = { route: '/test' };
  const request = { type: 'request', phase: 'action', headers: new Headers(headers) };
  return workAsyncStorage.run(work as never, () => workUnitAsyncStorage.run(request as never, run));
}
