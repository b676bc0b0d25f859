import {
  Box,
  Code,
  Stack,
  Table,
  TableTbody,
  TableTd,
  TableTh,
  TableThead,
  TableTr,
  Text,
  Title,
} from '@mantine/core';
import { listErrorTypes } from '@/lib/openapi/responses';

/** Every kind of error that the API answers with. */
export function ErrorTypes() {
  return (
    <Stack component="section" gap="sm" mt="xl" id="errors" aria-labelledby="errors-title">
      <Title order={2} id="errors-title">
        Errors
      </Title>
      <Text size="sm">
        Errors are <Code>application/problem+json</Code>. Go by <Code>type</Code> in your program;{' '}
        <Code>detail</Code> is a sentence for people, and <Code>errors</Code> names the fields that are wrong.
      </Text>
      <Box role="region" tabIndex={0} aria-label="Error types" style={{ overflowX: 'auto' }}>
        <Table miw={560}>
          <TableThead>
            <TableTr>
              <TableTh>Status</TableTh>
              <TableTh>type</TableTh>
              <TableTh>For example</TableTh>
            </TableTr>
          </TableThead>
          <TableTbody>
            {listErrorTypes().map(({ type, status, detail }) => (
              <TableTr key={type}>
                <TableTd>{status}</TableTd>
                <TableTd>
                  <Code>{type}</Code>
                </TableTd>
                <TableTd>{detail}</TableTd>
              </TableTr>
            ))}
          </TableTbody>
        </Table>
      </Box>
    </Stack>
  );
}
