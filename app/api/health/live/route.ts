import { livenessRoute } from '@/lib/http/health-route';

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = livenessRoute;
