import { cronRoute } from '@/lib/http/cron-route';

/** Maximum duration of a request on Vercel, in seconds. The run stops earlier, and another request continues it. */
export const maxDuration = 300;

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = cronRoute;
