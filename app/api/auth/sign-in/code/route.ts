import { methodNotAllowed } from '@/lib/http/messages';
import { answerCode } from '@/lib/http/sign-in-route';

export { answerCode as POST };

export const { GET, HEAD, PUT, PATCH, DELETE, OPTIONS } = methodNotAllowed('POST');
