import { exportRoute } from '../../_components/lists/csv';
import { INVOICES } from '../list';

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = exportRoute(INVOICES);
