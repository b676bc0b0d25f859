import { paymentRoute } from '@/lib/http/payments-route';

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = paymentRoute;
