import { handleMcpRequest } from '@/lib/mcp/handle-request';

export const GET = handleMcpRequest;
export const HEAD = handleMcpRequest;
export const POST = handleMcpRequest;
export const PUT = handleMcpRequest;
export const PATCH = handleMcpRequest;
export const DELETE = handleMcpRequest;
export const OPTIONS = handleMcpRequest;
