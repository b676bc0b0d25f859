import { Button, Paper, Stack, TextInput } from '@mantine/core';
import Form from 'next/form';

/** First the invoice: it says whose payment it is, in which currency, and what is open. */
export function InvoiceForm({ named, problem }: { named?: string; problem?: string }) {
  return (
    <Form action="/admin/payments/new">
      <Paper withBorder radius="lg" p="lg">
        <Stack gap="md" align="flex-start">
          <TextInput
            w="100%"
            label="Invoice"
            name="invoice"
            description="A customer’s name, a number or part of one, or an amount."
            required
            withAsterisk={false}
            autoFocus
            {...(named !== undefined && { defaultValue: named })}
            {...(problem !== undefined && { error: problem })}
          />
          <Button type="submit">Find invoice</Button>
        </Stack>
      </Paper>
    </Form>
  );
}
