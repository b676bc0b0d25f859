import { exportRoute } from '../../_components/lists/csv';
import { SALES_DOCUMENTS } from '../list';

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = exportRoute(SALES_DOCUMENTS);
