import { exportRoute } from '../../_components/lists/csv';
import { CUSTOMERS } from '../list';

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = exportRoute(CUSTOMERS);
