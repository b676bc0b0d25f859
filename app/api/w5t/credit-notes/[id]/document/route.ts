import { creditNoteDocumentRoute } from '@/lib/http/document-route';

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = creditNoteDocumentRoute;
