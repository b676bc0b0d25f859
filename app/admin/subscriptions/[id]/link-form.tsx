import { ActionForm } from '../../_components/forms/form';
import { saveLink } from '../actions';

interface Props {
  subscriptionId: number;
  itemId: number;
  /** Null if there are too many to list: then the number is typed. */
  choices: { value: string; label: string }[] | null;
  /** The number of the service that the item pays for. */
  current: string;
}

/** The choice of the service that an item pays for. */
export function LinkForm({ subscriptionId, itemId, choices, current }: Props) {
  const field = { name: 'service_number', label: 'Service', autoFocus: true };
  return (
    <ActionForm
      action={saveLink.bind(null, subscriptionId, itemId)}
      typed={{ service_number: current }}
      fields={[
        choices
          ? { ...field, kind: 'choice', options: [{ value: '', label: 'None' }, ...choices] }
          : { ...field, description: 'Service number. Leave empty to unlink.' },
      ]}
      submit="Save"
      cancel={`/admin/subscriptions/${subscriptionId}#item-${itemId}`}
      stack={{ gap: 'sm', mt: 'md', maw: 480 }}
      button={{ size: 'xs' }}
    />
  );
}
