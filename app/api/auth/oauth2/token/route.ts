import { tokenRoute } from '@/lib/http/oauth/routes';

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = tokenRoute;
