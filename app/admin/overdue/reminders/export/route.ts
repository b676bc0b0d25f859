import { exportRoute } from '../../../_components/lists/csv';
import { REMINDERS } from '../../list';

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = exportRoute(REMINDERS);
