import { signInRoute } from '@/lib/http/sign-in-route';

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = signInRoute;
