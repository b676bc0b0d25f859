export { DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT } from '@/app/.well-known/[...path]/route';
