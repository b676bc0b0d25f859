import { comingPresets } from '@/lib/dates';
import {
  listServicesForStaff,
  SERVICE_STATUSES,
  SERVICE_TYPES,
  serviceStaffFilters,
  servicesCsv,
} from '@/lib/services/list-for-staff';
import type { ServiceRow } from '@/lib/services/schema';
import { choiceOf, customerField, type ListDeclaration } from '../_components/lists/list-declaration';
import { ServiceList } from '../_components/records/service-list';

export const SERVICES = {
  title: 'Services',
  description: 'What customers rent.',
  path: '/admin/services',
  noun: 'service',
  yet: 'They appear here as soon as a customer has one.',
  schema: serviceStaffFilters,
  fields: ({ today }) => [
    customerField,
    { name: 'number', label: 'Number', placeholder: 'Full number or #ID' },
    { name: 'domain', label: 'Domain', placeholder: 'Any part' },
    { name: 'type', label: 'Type', options: choiceOf(SERVICE_TYPES) },
    { name: 'status', label: 'Status', options: choiceOf(SERVICE_STATUSES) },
    { name: 'from', label: 'Next billing', presets: comingPresets(today) },
    { name: 'server', label: 'Server', placeholder: 'Host name or #ID' },
  ],
  read: ({ db }, filters, place) => listServicesForStaff(db, filters, place),
  Rows: ({ rows, sorting }) => <ServiceList services={rows} sorting={sorting} />,
  csv: ({ db }, filters) => servicesCsv(db, filters),
} satisfies ListDeclaration<typeof serviceStaffFilters, ServiceRow>;
