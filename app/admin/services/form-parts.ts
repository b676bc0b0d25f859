import type { Typed } from '@/lib/records/typed-record';
import type { Runtime } from '@/lib/runtime';
import { listServers } from '@/lib/servers/queries';
import { BILLING_INTERVALS, SERVICE_TYPES } from '@/lib/services/queries';
import type { FormPart } from '../_components/forms/record/record-form';
import { currencyField } from '../_components/forms/record/suggestions';
import { choiceOf } from '../_components/lists/list-declaration';

const CHOOSE = { value: '', label: 'Choose…' };
const NONE = { value: '', label: 'None' };

/** Returns the form fields of a service. @param typed values of the service to edit; null for a new service */
export async function serviceParts(db: Runtime['db'], typed: Typed | null): Promise<FormPart[]> {
  const isNew = typed === null;
  const servers = (await listServers(db))
    .filter(({ status, hostname }) => status !== 'decommissioned' || hostname === typed?.hostname)
    .map(({ hostname }) => ({ value: hostname, label: hostname }));
  return [
    {
      title: 'Service',
      fields: [
        { name: 'customer_number', label: 'Customer', kind: 'customer', required: true },
        {
          name: 'service_number',
          label: 'Service number',
          maxLength: 100,
          ...(isNew ? { description: 'Leave empty for the next number.' } : { required: true }),
        },
        { name: 'name', label: 'Name', required: true, maxLength: 200, description: 'Such as Webhosting M.' },
        {
          name: 'service_type',
          label: 'Type',
          kind: 'choice',
          required: true,
          options: [CHOOSE, ...choiceOf(SERVICE_TYPES)],
        },
        { name: 'domain', label: 'Domain', maxLength: 253 },
        { name: 'hostname', label: 'Server', kind: 'choice', options: [NONE, ...servers] },
        ...(isNew ? [STATUS] : []),
      ],
    },
    BILLING(),
  ];
}

const STATUS = {
  name: 'status',
  label: 'Status',
  kind: 'choice' as const,
  options: choiceOf(['draft', 'order', 'active']),
  description: 'Later, change it with the buttons on its page.',
};

const BILLING = (): FormPart => ({
  title: 'Billing',
  fields: [
    {
      name: 'price',
      label: 'Price',
      inputMode: 'decimal',
      required: true,
      maxLength: 20,
      description: 'Per interval, without tax, such as 9.90.',
    },
    currencyField(),
    {
      name: 'billing_interval',
      label: 'Interval',
      kind: 'choice',
      required: true,
      options: choiceOf(BILLING_INTERVALS),
    },
    { name: 'start_date', label: 'Since', type: 'date' },
    { name: 'next_billing_date', label: 'Next billing', type: 'date' },
    { name: 'ends_on', label: 'Ends on', type: 'date' },
  ],
});
