import { healthRoute } from '@/lib/http/health-route';

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = healthRoute;
