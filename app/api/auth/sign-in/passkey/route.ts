import { methodNotAllowed } from '@/lib/http/method-not-allowed';
import { answerPasskey } from '@/lib/http/sign-in-route';

export { answerPasskey as POST };

export const { GET, HEAD, PUT, PATCH, DELETE, OPTIONS } = methodNotAllowed('POST');
