import { Avatar, Group, Text, UnstyledButton, type UnstyledButtonProps, VisuallyHidden } from '@mantine/core';
import { IconSelector } from '@tabler/icons-react';
import type { ComponentPropsWithRef } from 'react';
import classes from './shell.module.css';

interface UserButtonProps
  extends UnstyledButtonProps,
    Omit<ComponentPropsWithRef<'button'>, keyof UnstyledButtonProps> {
  name: string;
  email: string;
}

/** Shows the signed-in person in a button that opens the account menu. */
export function UserButton({ name, email, ...button }: UserButtonProps) {
  return (
    <UnstyledButton {...button} className={classes.user ?? ''}>
      <Group gap="sm" wrap="nowrap">
        <Avatar size={32} radius="xl" color="brand" name={name} aria-hidden />
        <div style={{ flex: 1, minWidth: 0 }}>
          <VisuallyHidden>Account of </VisuallyHidden>
          <Text size="sm" fw={500} truncate>
            {name}
          </Text>
          <Text size="xs" c="dimmed" truncate>
            {email}
          </Text>
        </div>
        <IconSelector size={16} stroke={1.6} aria-hidden />
      </Group>
    </UnstyledButton>
  );
}
