import { exportRoute } from '../../_components/lists/csv';
import { EVENTS } from '../list';

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = exportRoute(EVENTS);
