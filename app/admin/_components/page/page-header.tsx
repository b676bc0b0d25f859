import { Group, Stack, Text, Title } from '@mantine/core';
import { IconChevronLeft } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { TextLink } from '../../../_components/links';

interface Props {
  title: ReactNode;
  description?: ReactNode;
  back?: { href: string; label: string };
  /** Buttons at the right. */
  actions?: ReactNode;
}

export function PageHeader({ title, description, back, actions }: Props) {
  return (
    <Stack gap={6} mb="lg">
      {back && (
        <TextLink href={back.href} size="sm" fw={500} w="fit-content">
          <Group gap={4}>
            <IconChevronLeft size={16} stroke={1.8} aria-hidden />
            {back.label}
          </Group>
        </TextLink>
      )}
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
