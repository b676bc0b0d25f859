import { methodNotAllowed } from '@/lib/http/messages';
import { answerUnavailable } from '@/lib/http/unavailable-route';

export const dynamic = 'force-dynamic';
export const { POST, PUT, PATCH, DELETE, OPTIONS } = methodNotAllowed('GET, HEAD, OPTIONS');
export const GET = answerUnavailable;
