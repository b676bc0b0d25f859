import { newRecordPage } from '../../record-form-pages';
import { serviceParts } from '../form-parts';

export const metadata = { title: 'New service' };

export default newRecordPage('service', {
  first: ({ typed }) => ({ ...typed, billing_interval: 'month', status: 'draft' }),
  parts: (db) => serviceParts(db, null),
});
