import { exportRoute } from '../../_components/lists/csv';
import { PAYMENTS } from '../list';

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = exportRoute(PAYMENTS);
