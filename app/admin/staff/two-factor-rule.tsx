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
              consequences={['Those who have it keep it, and can turn it off.']}
            >
              Stop requiring it
            </ConfirmButton>
          ) : (
            <ConfirmButton
              action={demand.bind(null, true)}
              question="Require two-factor authentication of everyone?"
              confirm="Require it"
              consequences={[
                'Whoever has no authenticator app, you included, sets one up before they can go on.',
                'A passkey alone is not enough: the password would still work without a code.',
              ]}
            >
              Require it of everyone
            </ConfirmButton>
          )}
        </Group>
      </Box>
    </Section>
  );
}
