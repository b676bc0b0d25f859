import { methodNotAllowed } from '@/lib/http/method-not-allowed';
import { answerStaffAuth } from '@/lib/http/staff-auth-route';

export { answerStaffAuth as GET, answerStaffAuth as POST };

export const { HEAD, PUT, PATCH, DELETE, OPTIONS } = methodNotAllowed('GET, POST');
