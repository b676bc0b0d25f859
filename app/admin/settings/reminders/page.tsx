import { Text } from '@mantine/core';
import {
  getReminderSettings,
  MAX_TEXT,
  PLACEHOLDERS,
  REMINDER_FORM,
  toTyped,
} from '@/lib/documents/reminder-letter';
import { etagOf } from '@/lib/http/messages';
import type { FormField } from '../../_components/forms/field';
import { ActionForm } from '../../_components/forms/form';
import { OutcomeNotice } from '../../_components/forms/record/record-notice';
import { adminPage, FormPage } from '../../_components/page/staff-page';
import { LEVEL_TEXTS } from '../../overdue/list';
import { saveReminders } from '../actions';

export const metadata = { title: 'Reminders' };

/** Shows the settings of payment reminders. */
export default adminPage(async ({ runtime: { db }, notice }) => {
  const settings = await getReminderSettings(db);
  return (
    <FormPage
      maw={720}
      title="Reminders"
      description="When an unpaid invoice is due for a reminder, and the texts that staff copy. This service sends no e-mail."
    >
      <OutcomeNotice notice={notice} done={{ saved: 'The reminders are saved.' }} />
      <ActionForm
        label="Reminders"
        isSheet
        stays
        action={saveReminders.bind(null, etagOf(settings))}
        fields={FIELDS}
        typed={toTyped(settings)}
        submit="Save"
      >
        <Text size="sm">
          {`Placeholders: ${Object.entries(PLACEHOLDERS)
            .map(([name, meaning]) => `{${name}} ${meaning}`)
            .join('; ')}.`}
        </Text>
      </ActionForm>
    </FormPage>
  );
});

const FIELDS = REMINDER_FORM.map((name): FormField => {
  const [what, level] = name.split('_');
  if (name === 'pause_days') {
    return {
      ...{ name, label: 'Days between two reminders', inputMode: 'numeric', maxLength: 3 },
      description: 'Minimum number of days between two reminders of an invoice.',
    };
  }
  const title = LEVEL_TEXTS[level as keyof typeof LEVEL_TEXTS];
  if (what !== 'days') {
    const language = what === 'de' ? 'German' : 'English';
    return { name, label: `${title}: ${language} text`, kind: 'list', rows: 12, maxLength: MAX_TEXT };
  }
  return {
    ...{ name, label: `${title}: days after the due date`, inputMode: 'numeric', maxLength: 3 },
    ...(level !== '1' && { description: 'Leave empty if you do not use this level.' }),
  };
});
