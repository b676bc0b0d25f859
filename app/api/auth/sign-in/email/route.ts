import { methodNotAllowed } from '@/lib/http/messages';
import { answerSignIn } from '@/lib/http/sign-in-route';

export { answerSignIn as POST };

export const { GET, HEAD, PUT, PATCH, DELETE, OPTIONS } = methodNotAllowed('POST');
