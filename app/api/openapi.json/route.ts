import { openApiRoute } from '@/lib/openapi/document';

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = openApiRoute;
