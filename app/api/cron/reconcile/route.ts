import { reconcileOnRequest } from '@/lib/http/cron-route';
import { methodNotAllowed } from '@/lib/http/method-not-allowed';

/** Seconds; the run stops before and goes on in a request of its own. */
export const maxDuration = 300;

export { reconcileOnRequest as GET };

export const { HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methodNotAllowed('GET');
