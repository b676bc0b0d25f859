import type { ServiceRow } from '@/lib/services/schema';
import { formatDate, formatField } from '../../_components/format';
import { CustomerName } from './customer-name';
import { Money } from './money';
import { type Column, RecordList } from './record-list';
import { StatusBadge } from './status-badge';

interface Props {
  services: ServiceRow[];
}

/** Services of several customers. */
export function ServiceList({ services }: Props) {
  return (
    <List services={services} columns={[NUMBER, CUSTOMER, ...REST]} detailOf={(row) => row.customer.name} />
  );
}

/** Those of one. */
export function OwnServiceList({ services }: Props) {
  return (
    <List
      services={services}
      columns={[NUMBER, TYPE, ...REST]}
      detailOf={(row) => formatField(row.service_type)}
    />
  );
}

interface ListProps extends Props {
  columns: Column<ServiceRow>[];
  detailOf(service: ServiceRow): string;
}

function List({ services, columns, detailOf }: ListProps) {
  return (
    <RecordList
      label="Services"
      rows={services}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => `/admin/services/${id}`}
      columns={columns}
      entryOf={(service) => ({
        title: service.domain ?? service.name,
        detail: [service.service_number, detailOf(service)].filter(Boolean).join(' · '),
        figure: <Money amount={service.price} currency={service.currency} />,
        state: <StatusBadge status={service.status} />,
      })}
    />
  );
}

const NUMBER: Column<ServiceRow> = {
  label: 'Number',
  width: '13%',
  cell: ({ service_number }) => <strong>{service_number}</strong>,
};

const CUSTOMER: Column<ServiceRow> = {
  label: 'Customer',
  cell: ({ customer }) => <CustomerName customer={customer} />,
};

const TYPE: Column<ServiceRow> = {
  label: 'Type',
  width: '12%',
  cell: ({ service_type }) => formatField(service_type),
};

const REST: Column<ServiceRow>[] = [
  { label: 'Service', width: '25%', cell: ({ domain, name }) => domain ?? name, title: ({ name }) => name },
  { label: 'Status', width: '12%', cell: ({ status }) => <StatusBadge status={status} /> },
  {
    label: 'Next billing',
    width: '13%',
    cell: ({ next_billing_date, ends_on }) => {
      if (ends_on) return `Ends ${formatDate(ends_on)}`;
      return next_billing_date ? formatDate(next_billing_date) : '–';
    },
  },
  {
    label: 'Price',
    width: '12%',
    align: 'right',
    cell: ({ price, currency }) => <Money amount={price} currency={currency} />,
  },
];
