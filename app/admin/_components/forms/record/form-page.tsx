import { Box } from '@mantine/core';
import type { ComponentProps } from 'react';
import { PageHeader } from '../../page/page-header';
import { RecordForm } from './record-form';

interface FormPageProps extends ComponentProps<typeof RecordForm> {
  title: string;
  back: { href: string; label: string };
}

/** A page that is one form of a record. */
export function FormPage({ title, back, ...form }: FormPageProps) {
  return (
    <Box maw={760}>
      <PageHeader back={back} title={title} />
      <RecordForm {...form} />
    </Box>
  );
}
