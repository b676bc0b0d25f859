'use client';

import {
  Avatar,
  Group,
  Menu,
  SegmentedControl,
  Text,
  UnstyledButton,
  useMantineColorScheme,
  VisuallyHidden,
} from '@mantine/core';
import { IconLogout, IconSelector } from '@tabler/icons-react';
import { useTransition } from 'react';
import { signOut } from '../../sign-in/actions';
import { forgetTyping } from './record/use-kept-typing';
import classes from './shell.module.css';

const SCHEMES = [
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
  { value: 'auto', label: 'System' },
] as const;

export function UserMenu({ name, email }: { name: string; email: string }) {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const [leaving, startLeaving] = useTransition();
  return (
    <Menu width={236} position="top-start" withinPortal={false}>
      <Menu.Target>
        <UnstyledButton className={classes.user ?? ''}>
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
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Appearance</Menu.Label>
        <SegmentedControl
          aria-label="Appearance"
          size="xs"
          fullWidth
          mx={4}
          mb={4}
          data={[...SCHEMES]}
          value={colorScheme}
          onChange={setColorScheme}
        />
        <Menu.Divider />
        <Menu.Item
          leftSection={<IconLogout size={16} stroke={1.6} aria-hidden />}
          disabled={leaving}
          onClick={() => {
            forgetTyping();
            startLeaving(() => signOut());
          }}
        >
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
