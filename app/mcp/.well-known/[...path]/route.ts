import { everyMethod } from '@/lib/http/messages';
import { answerMetadata } from '@/lib/http/oauth/routes';

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = everyMethod(answerMetadata);
