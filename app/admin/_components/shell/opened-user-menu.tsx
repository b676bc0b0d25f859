'use client';

import { Menu, SegmentedControl, useMantineColorScheme } from '@mantine/core';
import { IconApi, IconLogout, IconUserCircle } from '@tabler/icons-react';
import { useTransition } from 'react';
import { Link } from '@/app/_components/links';
import { signOut } from '@/app/sign-in/actions';
import { forgetTyping } from '../forms/use-kept-typing';
import { mayLeave } from '../page/unsaved-forms';
import { UserButton } from './user-button';

const SCHEMES = [
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
  { value: 'auto', label: 'System' },
] as const;

interface OpenedUserMenuProps {
  name: string;
  email: string;
  /** Called when the person opens the account page. */
  onLeave(): void;
}

/** Shows the account menu. It starts open, because it is loaded when the person presses the button that opens it. */
export function OpenedUserMenu({ name, email, onLeave }: OpenedUserMenuProps) {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const [leaving, startLeaving] = useTransition();
  return (
    <Menu width={236} position="top-start" defaultOpened>
      <Menu.Target>
        <UserButton {...{ name, email }} />
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item
          component={Link}
          href="/admin/account"
          onClick={onLeave}
          leftSection={<IconUserCircle size={16} stroke={1.6} aria-hidden />}
        >
          Your account
        </Menu.Item>
        {/* This is a plain link, because the API reference needs a full page load to get its own CSP. */}
        <Menu.Item
          component="a"
          href="/docs/api"
          leftSection={<IconApi size={16} stroke={1.6} aria-hidden />}
        >
          API reference
        </Menu.Item>
        <Menu.Divider />
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
            if (!mayLeave()) return;
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
