import { exportRoute } from '../../_components/lists/csv';
import { RENEWALS } from '../list';

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = exportRoute(RENEWALS);
