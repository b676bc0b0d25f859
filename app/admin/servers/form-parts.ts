import type { FormPart } from '../_components/forms/record/record-form';

const ADDRESSES = 'Separated by spaces, or one per line.';

export const SERVER_PARTS: FormPart[] = [
  {
    title: 'Host',
    fields: [
      {
        name: 'hostname',
        label: 'Host name',
        required: true,
        maxLength: 253,
        description: 'Such as web1.example.net.',
      },
      { name: 'location', label: 'Location', maxLength: 200 },
      { name: 'ipv4', label: 'IPv4 addresses', kind: 'list', description: ADDRESSES },
      { name: 'ipv6', label: 'IPv6 addresses', kind: 'list', description: ADDRESSES },
    ],
  },
  {
    title: 'Software',
    fields: [
      { name: 'operating_system', label: 'Operating system', maxLength: 200 },
      { name: 'stack', label: 'Stack', maxLength: 200 },
      { name: 'control_panel', label: 'Control panel', maxLength: 200 },
    ],
  },
  {
    title: 'Hardware',
    fields: [
      { name: 'cpu', label: 'Processor', maxLength: 200 },
      { name: 'cpu_cores', label: 'Cores', inputMode: 'numeric', maxLength: 6 },
      { name: 'ram_gb', label: 'Memory in GB', inputMode: 'numeric', maxLength: 7 },
      { name: 'storage', label: 'Storage', maxLength: 200 },
    ],
  },
];
