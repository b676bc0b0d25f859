import { everyMethod } from '@/lib/http/method-not-allowed';
import { answerMetadata } from '@/lib/http/oauth/metadata-route';

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = everyMethod(answerMetadata);
