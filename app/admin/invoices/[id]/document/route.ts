import { getDocument } from '@/lib/documents/invoice-document';
import { staffDocumentRoute } from '../../../_components/document-route';

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = staffDocumentRoute(getDocument);
