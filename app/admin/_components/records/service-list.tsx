import { formatDate, formatField } from '@/app/_components/format';
import type { ServiceRow } from '@/lib/services/queries';
import { Money, StatusBadge } from '../display/values';
import { type Column, RecordList, type RecordRows } from '../lists/record-list';
import { CustomerCell } from './customer-link';

/** Shows a list of services. If `isOwn` is true, shows the service type instead of the customer. */
export function ServiceList({ rows, isOwn = false, sorting }: RecordRows<ServiceRow>) {
  return (
    <RecordList
      label="Services"
      rows={rows}
      hrefOf={({ id }) => `/admin/services/${id}`}
      columns={[NUMBER, isOwn ? TYPE : CUSTOMER, ...REST]}
      entryOf={(service) => ({
        title: service.domain ?? service.name,
        detail: [
          service.service_number,
          isOwn ? formatField(service.service_type) : service.customer.name,
          billingOf(service),
        ]
          .filter((text) => text && text !== '–')
          .join(' · '),
        figure: <Price service={service} />,
        state: <StatusBadge status={service.status} />,
      })}
      sorting={sorting}
    />
  );
}

const NUMBER: Column<ServiceRow> = {
  label: 'Number',
  width: '13%',
  sort: 'number',
  cell: ({ service_number }) => <strong>{service_number}</strong>,
};

const CUSTOMER: Column<ServiceRow> = {
  label: 'Customer',
  cell: ({ customer }) => <CustomerCell customer={customer} />,
};

const TYPE: Column<ServiceRow> = {
  label: 'Type',
  width: '12%',
  cell: (row) => formatField(row.service_type),
};

const REST: Column<ServiceRow>[] = [
  { label: 'Service', width: '22%', cell: ({ domain, name }) => domain ?? name, title: ({ name }) => name },
  { label: 'Status', width: '12%', cell: ({ status }) => <StatusBadge status={status} /> },
  { label: 'Next billing', width: '13%', sort: 'next-billing', cell: billingOf },
  { label: 'Price', width: '17%', align: 'right', cell: (service) => <Price service={service} /> },
];

const INTERVALS = {
  month: 'a month',
  quarter: 'a quarter',
  half_year: 'each half-year',
  year: 'a year',
  two_years: 'for two years',
  three_years: 'for three years',
  once: 'once',
};

/** Shows the price of a service with its billing interval, such as “€9.90 a month”. */
export function Price({ service }: { service: Pick<ServiceRow, 'price' | 'currency' | 'billing_interval'> }) {
  return (
    <>
      <Money amount={service.price} currency={service.currency} /> {INTERVALS[service.billing_interval]}
    </>
  );
}

function billingOf({ next_billing_date, ends_on }: ServiceRow): string {
  if (ends_on) return `Ends ${formatDate(ends_on)}`;
  return next_billing_date ? formatDate(next_billing_date) : '–';
}
