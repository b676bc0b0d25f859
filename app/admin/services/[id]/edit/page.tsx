import { getService } from '@/lib/services/queries';
import { titleOfRow } from '../../../_components/page/staff-page';
import { editRecordPage } from '../../../record-form-pages';
import { serviceParts } from '../../form-parts';

export const generateMetadata = titleOfRow(
  'Edit service',
  getService,
  (one) => `Edit ${one.domain ?? one.name}`,
);

export default editRecordPage('service', {
  read: getService,
  heading: ({ service_number }) => ({ back: `Service ${service_number}` }),
  parts: serviceParts,
});
