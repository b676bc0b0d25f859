import { everyMethod } from '@/lib/http/every-method';
import { answerUnknownPath } from '@/lib/http/unknown-path';

// Programs asked for something that is not there: they get JSON, not a page.
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = everyMethod(answerUnknownPath);
