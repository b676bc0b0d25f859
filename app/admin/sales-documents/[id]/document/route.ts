import { getSalesFile } from '@/lib/documents/sales-document-file';
import { staffDocumentRoute } from '../../../_components/records/document-route';

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = staffDocumentRoute(getSalesFile);
