import { exportRoute } from '../../export/export-route';
import { INVOICES } from '../list';

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = exportRoute(INVOICES);
