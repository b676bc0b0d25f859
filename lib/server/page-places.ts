import { setImmediate } from 'node:timers/promises';
import { Bulkhead, BusyError } from '@/db/transaction';
import { watchQueue } from '../metrics/metrics';
import { abortedWith } from './fast/fast-first';
import type { Limits } from './limits';
import { clientOf, type Handler, isOwnRequest, refuse } from './listener';

const RETRY_AFTER_S = 2;
const TURNS = 100;

/**
 * Limits how many pages are rendered concurrently, because rendering occupies the only thread. API requests have their
 * own limit. Further requests wait or are refused with 503. A request counts until its work ends, even if its client
 * has disconnected, but for at most `pagePlaceMs`, because uploads and exports take minutes but hardly any processor
 * time.
 */
export function limitRenderings(handle: Handler, limits: Limits): Handler {
  const common = {
    waiting: limits.pagesWaiting,
    waitingPerKey: limits.pagesWaitingOfClient,
    patience: limits.pagePatienceMs,
  };
  const pages = new Bulkhead({ ...common, atOnce: limits.pagesAtOnce, perKey: limits.pagesOfClient });
  // API routes have their own limit, because they render nothing. A slow one, such as sign-in, must not delay a page.
  const routes = new Bulkhead({ ...common, atOnce: limits.routesAtOnce, perKey: limits.routesOfClient });
  watchQueue('pages', pages);
  watchQueue('routes', routes);
  return async (request, response) => {
    // Next sent this request while handling another request, which already counts.
    if (isOwnRequest(request)) return handle(request, response);
    const client = clientOf(request);
    let work: Promise<void> | undefined;
    const begin = async () => {
      await yieldToShortRequests();
      if (response.destroyed) return;
      work = handle(request, response);
      await settledWithin(work, limits.pagePlaceMs);
    };
    try {
      const places = request.url?.startsWith('/api/') ? routes : pages;
      await places.run(client, begin, abortedWith(response).signal);
    } catch (error) {
      if (!(error instanceof BusyError)) throw error;
      if (response.destroyed) return;
      response.setHeader('Retry-After', RETRY_AFTER_S);
      refuse(
        request,
        response,
        503,
        'Too many pages are requested at the moment. Try again in a few seconds.',
        limits.lingerMs,
      );
    }
    await work;
  };
}

/** Lets short requests start before a page is rendered. Node accepts only one connection per turn of the event loop. */
async function yieldToShortRequests(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn += 1) await setImmediate();
}

function settledWithin(work: Promise<void>, ms: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    work.finally(() => clearTimeout(timer)).then(resolve, reject);
  });
}
