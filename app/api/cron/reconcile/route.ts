import { cronRoute } from '@/lib/http/cron-route';

/** Seconds; the run stops before and goes on in a request of its own. */
export const maxDuration = 300;

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = cronRoute;
