import { exportRoute } from '../../export/export-route';
import { SUBSCRIPTIONS } from '../list';

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = exportRoute(SUBSCRIPTIONS);
