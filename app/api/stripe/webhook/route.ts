import { methodNotAllowed } from '@/lib/http/method-not-allowed';
import { receiveDelivery } from '@/lib/http/webhook-route';

export const POST = receiveDelivery;

export const { GET, HEAD, PUT, PATCH, DELETE, OPTIONS } = methodNotAllowed('POST');
