import { exportRoute } from '../../export/export-route';
import { EVENTS } from '../list';

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = exportRoute(EVENTS);
