import { Box, Group, Text } from '@mantine/core';
import { ConfirmButton } from '../_components/forms/confirm-button';
import { Section } from '../_components/page/section';
import { demand } from './actions';

/** Whether everybody must use an authenticator app, and the button that changes it. */
export function TwoFactorRule({ isRequired }: { isRequired: boolean }) {
  return (
    <Section title="Two-factor authentication">
      <Box p="md">
        <Group justify="space-between" gap="md">
          <Text size="sm">
            {isRequired
              ? 'Everyone must use an authenticator app.'
              : 'Each person chooses whether to use an authenticator app.'}
          </Text>
          {isRequired ? (
            <ConfirmButton
              action={demand.bind(null, false)}
              question="Stop requiring two-factor authentication?"
              confirm="Stop requiring it"
              consequences={['Anyone who has set it up keeps it, and can turn it off.']}
            >
              Stop requiring it
            </ConfirmButton>
          ) : (
            <ConfirmButton
              action={demand.bind(null, true)}
              question="Require two-factor authentication for everyone?"
              confirm="Require it"
              consequences={[
                'Anyone without an authenticator app, including you, must set one up before they can continue.',
                'A passkey alone is not enough: the password would still work without a code.',
              ]}
            >
              Require it for everyone
            </ConfirmButton>
          )}
        </Group>
      </Box>
    </Section>
  );
}
