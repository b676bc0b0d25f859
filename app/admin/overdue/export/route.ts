import { exportRoute } from '../../export/export-route';
import { OVERDUE } from '../list';

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = exportRoute(OVERDUE);
