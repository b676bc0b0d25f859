import { ActionForm } from '../_components/forms/form';
import { addNote } from './actions';

/** Adds a note to a customer. */
export function NoteForm({ customerId }: { customerId: number }) {
  return (
    <ActionForm
      label="Note"
      keeps
      action={addNote.bind(null, customerId)}
      fields={[
        {
          name: 'text',
          label: 'Note',
          kind: 'list',
          description: 'Saved with the date and your name; it cannot be changed later.',
          required: true,
        },
      ]}
      submit="Add note"
      stack={{ p: 'md', gap: 'sm' }}
      button={{ size: 'sm', variant: 'default', w: 'fit-content' }}
    />
  );
}
