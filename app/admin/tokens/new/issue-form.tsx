'use client';

import { Checkbox, TextInput } from '@mantine/core';
import { useActionState } from 'react';
import { TextLink } from '../../../_components/links';
import { HIDES_TEXT } from '../../../oauth/consent/scope-texts';
import { ChoiceGroup } from '../../_components/forms/choice-group';
import { Secret } from '../../_components/forms/secret';
import { SheetForm } from '../../_components/forms/sheet-form';
import { useFirstWrong } from '../../_components/forms/use-first-wrong';
import { SCOPE_TEXTS } from '../scope-text';
import type { IssueState } from './actions';
import { ExpiryFields } from './expiry-fields';

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
