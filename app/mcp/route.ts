import { mcpRoute } from '@/lib/mcp/handle-request';

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = mcpRoute;
