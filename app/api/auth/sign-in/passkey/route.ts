import { methodNotAllowed } from '@/lib/http/messages';
import { answerPasskey } from '@/lib/http/sign-in-route';

export { answerPasskey as POST };

export const { GET, HEAD, PUT, PATCH, DELETE, OPTIONS } = methodNotAllowed('POST');
