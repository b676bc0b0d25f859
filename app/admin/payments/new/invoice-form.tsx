import { Button, Paper, Stack, TextInput } from '@mantine/core';
import Form from 'next/form';
import { PATH } from '../path';

/** First the invoice: it says whose payment it is, in which currency, and what is open. */
export function InvoiceForm({ named, problem }: { named?: string; problem?: string }) {
  return (
    <Form action={`${PATH}/new`}>
      <Paper withBorder radius="lg" p="lg">
        <Stack gap="md" align="flex-start">
          <TextInput
            w="100%"
            label="Invoice"
            name="invoice"
            description="Its number, or # and its ID."
            required
            withAsterisk={false}
            autoFocus
            {...(named !== undefined && { defaultValue: named })}
            {...(problem !== undefined && { error: problem })}
          />
          <Button type="submit">Continue</Button>
        </Stack>
      </Paper>
    </Form>
  );
}
