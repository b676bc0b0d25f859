import { answerUnknownPath, everyMethod } from '@/lib/http/messages';

// Programs asked for something that is not there: they get JSON, not a page.
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = everyMethod(answerUnknownPath);
