import { webhookRoute } from '@/lib/http/webhook-route';

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = webhookRoute;
