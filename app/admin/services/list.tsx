import { comingPresets } from '@/lib/dates';
import { SERVICE_STATUSES, SERVICE_TYPES, serviceList } from '@/lib/services/queries';
import { choiceOf, customerField, declareList } from '../_components/lists/list-declaration';
import { ServiceList } from '../_components/records/service-list';

export const SERVICES = declareList({
  title: 'Services',
  description: 'What customers rent.',
  path: '/admin/services',
  noun: 'service',
  yet: 'They appear here as soon as a customer has one.',
  source: serviceList,
  fields: (today) => [
    customerField,
    { name: 'number', label: 'Number', placeholder: 'Full number or #ID' },
    { name: 'domain', label: 'Domain', placeholder: 'Any part' },
    { name: 'type', label: 'Type', options: choiceOf(SERVICE_TYPES) },
    { name: 'status', label: 'Status', options: choiceOf(SERVICE_STATUSES) },
    { name: 'from', label: 'Next billing', presets: comingPresets(today) },
    { name: 'server', label: 'Server', placeholder: 'Host name or #ID' },
  ],
  Rows: ServiceList,
});
