import { Code, List, ListItem, Stack, Text, Title } from '@mantine/core';
import { TextLink } from '../../_components/links';

/** From no token to the first payment. */
export function GettingStarted({ url }: { url: string }) {
  return (
    <Stack component="section" gap="sm" mt="xl" id="getting-started" aria-labelledby="getting-started-title">
      <Title order={2} id="getting-started-title">
        Getting started
      </Title>
      <List type="ordered" spacing="md" styles={{ itemWrapper: { display: 'block' } }}>
        <ListItem>
          An admin{' '}
          <TextLink href="/admin/tokens/new" prefetch={false}>
            issues an access token
          </TextLink>{' '}
          with the scopes <Code>payments:read</Code> and <Code>payments:write</Code>. Keep it in an
          environment variable.
        </ListItem>
        <ListItem>
          Ask for the latest payments:
          <Code block tabIndex={0} mt="xs">{`export ACCESS_TOKEN=w5t_…
curl '${url}/api/w5t/payments?per_page=5' -H "Authorization: Bearer $ACCESS_TOKEN"`}</Code>
        </ListItem>
        <ListItem>
          Record one. The answer is 201; the same request again changes nothing and answers 200.
          <Code block tabIndex={0} mt="xs">{`curl -X POST '${url}/api/w5t/payments' \\
  -H "Authorization: Bearer $ACCESS_TOKEN" \\
  -H 'Content-Type: application/json' \\
  -d '{"invoice_id": 1, "customer_id": 1, "amount": 119,
       "payment_date": "2026-03-10", "payment_reference": "BANK-2026-0310"}'`}</Code>
        </ListItem>
      </List>
      <Text size="sm" c="dimmed">
        “Authorize” and “Try it out” below send real requests: what you record is recorded.
      </Text>
    </Stack>
  );
}
