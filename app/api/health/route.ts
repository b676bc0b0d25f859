import { answerHealth } from '@/lib/http/health-route';
import { methodNotAllowed } from '@/lib/http/method-not-allowed';

export { answerHealth as GET };

export const { POST, PUT, PATCH, DELETE, OPTIONS } = methodNotAllowed('GET, HEAD');
