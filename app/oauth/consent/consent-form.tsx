'use client';

import { Button, Checkbox, Group, Stack } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useFormStatus } from 'react-dom';
import type { ReadScope } from '@/lib/oauth/metadata';
import { HIDES_TEXT, READ_TEXTS } from '../../_components/scope-texts';

interface Props {
  action(form: FormData): Promise<void>;
  /** Query of the page's URL, signed by the OAuth provider. */
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

const SHOWN_MS = 700;

/**
 * Returns false for 700 ms after the page has loaded, regained the focus or become visible. This prevents clickjacking
 * by a site that reveals the page just before the second click of a double-click.
 */
function useArmed(): boolean {
  const [isArmed, setArmed] = useState(false);
  useEffect(() => {
    let timer: number | undefined;
    const arm = () => {
      window.clearTimeout(timer);
      setArmed(false);
      timer = window.setTimeout(() => setArmed(true), SHOWN_MS);
    };
    arm();
    window.addEventListener('focus', arm);
    document.addEventListener('visibilitychange', arm);
    return () => {
      window.clearTimeout(timer);
      window.removeEventListener('focus', arm);
      document.removeEventListener('visibilitychange', arm);
    };
  }, []);
  return isArmed;
}
