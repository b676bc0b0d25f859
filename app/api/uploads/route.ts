import { methodNotAllowed } from '@/lib/http/messages';
import { answerUpload } from '@/lib/http/upload-route';

export { answerUpload as POST };

export const { GET, HEAD, PUT, PATCH, DELETE, OPTIONS } = methodNotAllowed('POST');
