import { methodNotAllowed } from '@/lib/http/messages';
import { answerPasskeyOptions } from '@/lib/http/sign-in-route';

export { answerPasskeyOptions as POST };

export const { GET, HEAD, PUT, PATCH, DELETE, OPTIONS } = methodNotAllowed('POST');
