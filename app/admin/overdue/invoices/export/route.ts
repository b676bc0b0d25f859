import { exportRoute } from '../../../_components/lists/csv';
import { OVERDUE } from '../list';

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = exportRoute(OVERDUE);
