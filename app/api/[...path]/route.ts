import { answerUnknownPath, everyMethod } from '@/lib/http/messages';

// Answers an unknown path below /api with a JSON error, because programs and not people request it.
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = everyMethod(answerUnknownPath);
