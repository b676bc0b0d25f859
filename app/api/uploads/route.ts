import { methodNotAllowed } from '@/lib/http/problem';
import { answerUpload } from '@/lib/http/upload-route';

export { answerUpload as POST };

export const { GET, HEAD, PUT, PATCH, DELETE, OPTIONS } = methodNotAllowed('POST');
