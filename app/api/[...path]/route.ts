import { answerUnknownPath, everyMethod } from '@/lib/http/messages';

// Answer an unknown path below /api with a JSON error, because clients of the API are programs.
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = everyMethod(answerUnknownPath);
