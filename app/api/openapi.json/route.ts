import { openApiRoute } from '@/lib/openapi/route';

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = openApiRoute;
