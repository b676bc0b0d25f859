import { exportRoute } from '../../export/export-route';
import { RENEWALS } from '../list';

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = exportRoute(RENEWALS);
