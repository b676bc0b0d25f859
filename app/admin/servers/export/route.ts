import { exportRoute } from '../../_components/lists/csv';
import { SERVERS } from '../list';

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = exportRoute(SERVERS);
