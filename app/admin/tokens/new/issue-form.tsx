'use client';

import { Checkbox, NativeSelect, SimpleGrid, TextInput } from '@mantine/core';
import { useActionState, useState } from 'react';
import { HIDES_TEXT, SCOPE_TEXTS } from '@/app/_components/scope-texts';
import { TextLink } from '../../../_components/links';
import { ChoiceGroup, SheetForm, useFirstWrong } from '../../_components/forms/form';
import { Secret } from '../../_components/forms/secret';
import type { IssueState } from '../actions';

interface Props {
  action(before: IssueState, form: FormData): Promise<IssueState>;
  /** YYYY-MM-DD, where the service is. */
  today: string;
}

const FIRST: IssueState = {
  typed: { name: '', scopes: [], hides_personal_data: false, expires: '90', last_day: '', staff_email: '' },
  problems: {},
  issued: null,
};

export function IssueForm({ action, today }: Props) {
  const [{ typed, problems, issued }, submit, pending] = useActionState(action, FIRST);
  const form = useFirstWrong(problems);

  if (issued) {
    return (
      <Secret
        title={`The token ${issued.name} is valid now.`}
        name="token"
        text={issued.token}
        advice={
          <>
            Anyone who has it can do what its scopes allow. Where to enter it:{' '}
            <TextLink href="/admin/connect">Connect a client</TextLink>.
          </>
        }
        done="/admin/tokens"
      />
    );
  }
  return (
    <SheetForm
      label="Access token"
      action={submit}
      form={form}
      submit="Issue token"
      cancel="/admin/tokens"
      pending={pending}
    >
      <TextInput
        label="Name"
        description="The program that will use it."
        name="name"
        defaultValue={typed.name}
        error={problems.name}
        maxLength={100}
        autoComplete="off"
        required
        withAsterisk={false}
      />
      <TextInput
        label="Member of staff (optional)"
        description="Who it belongs to. The call log shows them, and removing them revokes it."
        name="staff_email"
        type="email"
        defaultValue={typed.staff_email}
        error={problems.staff_email}
        autoComplete="off"
      />
      <ChoiceGroup label="What it may do" error={problems.scopes && 'Choose at least one.'}>
        {Object.entries(SCOPE_TEXTS).map(([scope, text]) => (
          <Checkbox
            key={scope}
            name="scopes"
            value={scope}
            label={scope}
            description={text}
            defaultChecked={typed.scopes.includes(scope)}
            aria-invalid={problems.scopes ? true : undefined}
          />
        ))}
      </ChoiceGroup>
      <Checkbox
        name="hides_personal_data"
        label="Hide personal data"
        description={HIDES_TEXT}
        defaultChecked={typed.hides_personal_data}
      />
      <ExpiryFields
        key={`${typed.expires} ${typed.last_day}`}
        typed={typed}
        problem={problems.last_day ?? problems.expires}
        today={today}
      />
    </SheetForm>
  );
}

const CHOICES = [
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In 365 days' },
  { value: 'date', label: 'On a date' },
  { value: 'never', label: 'Never' },
];

interface ExpiryProps {
  typed: IssueState['typed'];
  problem: string | undefined;
  /** YYYY-MM-DD. */
  today: string;
}

/** When a token ends, and the day where one is chosen. */
function ExpiryFields({ typed, problem, today }: ExpiryProps) {
  const [expires, setExpires] = useState(typed.expires);
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md">
      <NativeSelect
        label="Expires"
        name="expires"
        data={CHOICES}
        defaultValue={typed.expires}
        onChange={({ currentTarget }) => setExpires(currentTarget.value)}
      />
      {expires === 'date' && (
        <TextInput
          label="Last day"
          type="date"
          name="last_day"
          min={today}
          defaultValue={typed.last_day}
          error={problem}
          required
          withAsterisk={false}
        />
      )}
    </SimpleGrid>
  );
}
