import { exportRoute } from '../../export/export-route';
import { PAYMENTS } from '../list';

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = exportRoute(PAYMENTS);
