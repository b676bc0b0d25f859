import { Group, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { BackLink } from './back-link';

interface HeaderProps {
  title: ReactNode;
  description?: ReactNode;
  back?: { href: string; label: string };
  /** Buttons at the right edge. */
  actions?: ReactNode;
}

export function PageHeader({ title, description, back, actions }: HeaderProps) {
  return (
    <Stack gap={6} mb="lg">
      {back && <BackLink {...back} />}
      <Group justify="space-between" align="flex-start" gap="md">
        <Stack gap={4} miw={0}>
          <Title order={1} className="break-anywhere">
            {title}
          </Title>
          {description && (
            <Text c="dimmed" size="sm" component="div" className="break-anywhere">
              {description}
            </Text>
          )}
        </Stack>
        {actions}
      </Group>
    </Stack>
  );
}

interface PageProps extends HeaderProps {
  /** Notice about the outcome of the action that redirected here. */
  notice?: ReactNode;
  children: ReactNode;
}

/** Shows a page of several sections below a header. */
export function Page({ notice, children, ...header }: PageProps) {
  return (
    <>
      <PageHeader {...header} />
      {notice}
      <Stack gap="xl">{children}</Stack>
    </>
  );
}

/** Two parts of a page beside each other, below each other on a narrow screen. */
export function Columns({ children }: { children: ReactNode }) {
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg" verticalSpacing="xl">
      {children}
    </SimpleGrid>
  );
}
