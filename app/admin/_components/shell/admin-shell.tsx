'use client';

import { AppShell, Burger, Group, NavLink } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import Link from 'next/link';
import { usePathname } from 'next/navigation';
import { type ReactNode, Suspense, useRef } from 'react';
import { Brand } from '../../../_components/brand';
import { isCurrent, navigationFor } from '../page/navigation';
import { KeysDialog } from '../search/keys-dialog';
import { SearchDialog } from '../search/search-dialog';
import { SearchTrigger } from '../search/search-trigger';
import { useSearchKey } from '../search/use-search-key';
import { NavigationProgress } from './navigation-progress';
import { PageMemory } from './page-memory';
import classes from './shell.module.css';
import { UserMenu } from './user-menu';

interface Props {
  user: { name: string; email: string };
  isAdmin: boolean;
  children: ReactNode;
}

export function AdminShell({ user, isAdmin, children }: Props) {
  const [opened, { toggle, close }] = useDisclosure();
  const [searching, search] = useDisclosure();
  const [listingKeys, keys] = useDisclosure();
  useSearchKey(search.toggle, keys.open);
  const pathname = usePathname();
  const burger = useRef<HTMLButtonElement>(null);
  const leave = () => {
    close();
    burger.current?.focus();
  };
  return (
    <AppShell
      header={{ height: { base: 56, sm: 0 } }}
      navbar={{ width: 236, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      transitionDuration={0}
    >
      <a href="#content" className={classes.skip}>
        Skip to content
      </a>
      <a href="#list" className={`${classes.skip} ${classes.toList}`}>
        Skip to the list
      </a>
      <Suspense>
        <NavigationProgress />
        <PageMemory />
      </Suspense>
      <AppShell.Header hiddenFrom="sm">
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Link href="/admin" className={classes.brand} onClick={close}>
            <Brand />
          </Link>
          <Group gap="xs" wrap="nowrap">
            <SearchTrigger open={search.open} compact />
            <Burger
              ref={burger}
              opened={opened}
              onClick={toggle}
              size="sm"
              aria-label="Navigation"
              aria-expanded={opened}
            />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar
        className={`${classes.navbar} ${opened ? '' : classes.closed}`}
        p="sm"
        onKeyDown={(event) => {
          if (event.key === 'Escape' && opened) leave();
        }}
        onBlur={({ currentTarget, relatedTarget }) => {
          const next = relatedTarget;
          if (!opened || !next || next === burger.current) return;
          // The menu of the account is drawn outside, so that nothing cuts it.
          if (!currentTarget.contains(next) && !next.closest('[role="menu"]')) close();
        }}
      >
        <Link href="/admin" className={`${classes.brand} mantine-visible-from-sm`}>
          <Brand />
        </Link>
        <div className={classes.search}>
          <SearchTrigger open={search.open} />
        </div>
        <nav aria-label="Main" className={classes.groups}>
          {navigationFor(isAdmin).map((group) => (
            <section key={group.label} aria-label={group.label}>
              <p className={classes.group} aria-hidden>
                {group.label}
              </p>
              {group.entries.map(({ href, label, icon: Icon }) => (
                <NavLink
                  key={href}
                  component={Link}
                  href={href}
                  label={label}
                  active={isCurrent(href, pathname)}
                  aria-current={isCurrent(href, pathname) ? 'page' : undefined}
                  leftSection={<Icon size={18} stroke={1.6} aria-hidden />}
                  className={classes.link ?? ''}
                  onClick={close}
                />
              ))}
            </section>
          ))}
        </nav>
        <UserMenu {...user} onLeave={close} />
      </AppShell.Navbar>
      <AppShell.Main id="content" className={classes.main}>
        <div className={classes.content}>{children}</div>
      </AppShell.Main>
      <KeysDialog opened={listingKeys} close={keys.close} />
      <SearchDialog isAdmin={isAdmin} opened={searching} close={search.close} />
    </AppShell>
  );
}
