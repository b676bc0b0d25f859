import { exportRoute } from '../../export/export-route';
import { SERVICES } from '../list';

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = exportRoute(SERVICES);
