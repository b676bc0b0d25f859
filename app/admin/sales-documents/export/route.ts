import { exportRoute } from '../../export/export-route';
import { SALES_DOCUMENTS } from '../list';

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = exportRoute(SALES_DOCUMENTS);
