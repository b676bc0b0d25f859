import { exportRoute } from '../../_components/lists/csv';
import { SERVICES } from '../list';

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = exportRoute(SERVICES);
