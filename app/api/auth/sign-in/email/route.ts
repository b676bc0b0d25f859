import { methodNotAllowed } from '@/lib/http/problem';
import { answerSignIn } from '@/lib/http/sign-in-route';

export { answerSignIn as POST };

export const { GET, HEAD, PUT, PATCH, DELETE, OPTIONS } = methodNotAllowed('POST');
