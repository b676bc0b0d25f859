import { exportRoute } from '../../export/export-route';
import { CUSTOMERS } from '../list';

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = exportRoute(CUSTOMERS);
