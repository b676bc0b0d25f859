import { everyMethod } from '@/lib/http/every-method';
import { answerNoMetadata } from '@/lib/mcp/no-metadata';

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = everyMethod(answerNoMetadata);
