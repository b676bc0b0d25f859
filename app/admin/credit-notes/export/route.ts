import { exportRoute } from '../../_components/lists/csv';
import { CREDIT_NOTES } from '../list';

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = exportRoute(CREDIT_NOTES);
