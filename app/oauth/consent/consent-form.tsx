'use client';

import { Button, Checkbox, Group, Stack } from '@mantine/core';
import { useState } from 'react';
import { useFormStatus } from 'react-dom';
import type { ReadScope } from '@/lib/oauth/scopes';
import { HIDES_TEXT, READ_TEXTS } from './scope-texts';
import { useArmed } from './use-armed';

interface Props {
  action(form: FormData): Promise<void>;
  /** The address of the page, signed by the provider. */
  query: string;
  scopes: ReadScope[];
}

export function ConsentForm({ action, query, scopes }: Props) {
  const [chosen, setChosen] = useState<string[]>(scopes);
  return (
    <form action={action} aria-label="Consent">
      <input type="hidden" name="query" value={query} />
      <Stack gap="lg">
        <Checkbox.Group label="It may read" value={chosen} onChange={setChosen}>
          <Stack gap="sm" mt="xs">
            {scopes.map((scope) => (
              <Checkbox
                key={scope}
                name="scopes"
                value={scope}
                label={READ_TEXTS[scope].label}
                description={READ_TEXTS[scope].text}
              />
            ))}
          </Stack>
        </Checkbox.Group>
        <Checkbox name="hides_personal_data" label="Hide personal data" description={HIDES_TEXT} />
        <Decisions canAllow={chosen.length > 0} />
      </Stack>
    </form>
  );
}

function Decisions({ canAllow }: { canAllow: boolean }) {
  const { pending } = useFormStatus();
  const isArmed = useArmed();
  return (
    <Group grow>
      <Button type="submit" name="decision" value="deny" variant="default" disabled={pending}>
        Deny
      </Button>
      <Button type="submit" name="decision" value="allow" loading={pending} disabled={!canAllow || !isArmed}>
        Allow
      </Button>
    </Group>
  );
}
