import { getDocument } from '@/lib/documents/invoice-document';
import { staffDocumentRoute } from '../../../_components/records/document-route';

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = staffDocumentRoute(getDocument);
