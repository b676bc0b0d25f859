import { answerNoMetadata } from '@/lib/mcp/no-metadata';

export const GET = answerNoMetadata;
export const HEAD = answerNoMetadata;
export const POST = answerNoMetadata;
export const PUT = answerNoMetadata;
export const PATCH = answerNoMetadata;
export const DELETE = answerNoMetadata;
export const OPTIONS = answerNoMetadata;
