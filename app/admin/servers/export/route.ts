import { exportRoute } from '../../export/export-route';
import { SERVERS } from '../list';

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = exportRoute(SERVERS);
