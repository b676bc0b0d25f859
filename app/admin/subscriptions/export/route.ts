import { exportRoute } from '../../_components/lists/csv';
import { SUBSCRIPTIONS } from '../list';

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = exportRoute(SUBSCRIPTIONS);
