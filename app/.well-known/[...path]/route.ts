import { answerMetadata } from '@/lib/http/oauth/metadata-route';
import { everyMethod } from '@/lib/http/problem';

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = everyMethod(answerMetadata);
